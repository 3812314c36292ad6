import ipaddr from 'ipaddr.js'

/**
 * Which IP addresses are the public internet. Everything that is not plainly public is private here: a list of
 * what is allowed grows stale harmlessly, a list of what is forbidden does not.
 */
export type Address = ipaddr.IPv4 | ipaddr.IPv6

/** The address that a text means, IPv4-mapped ones as IPv4; undefined when it is no address. */
export function parseAddress(text: string): Address | undefined {
  const bare = text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text
  // Only the four-part form: a URL has already turned 0x7f.1 and its like into it.
  if (ipaddr.IPv4.isValidFourPartDecimal(bare)) return ipaddr.IPv4.parse(bare)
  if (!ipaddr.IPv6.isValid(bare)) return undefined
  const six = ipaddr.IPv6.parse(bare)
  return six.isIPv4MappedAddress() ? six.toIPv4Address() : six
}

const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3')
/** NAT64: the answer of a DNS64 resolver on an IPv6-only network; the IPv4 address in it is what is reached. */
const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96')

export function isPublic(address: Address): boolean {
  if (isMetadata(address)) return false
  if (address instanceof ipaddr.IPv4) return address.range() === 'unicast'
  if (address.match(NAT64)) return isPublic(new ipaddr.IPv4(address.toByteArray().slice(12)))
  return address.range() === 'unicast' && address.match(GLOBAL_IPV6)
}

/**
 * Where clouds hand out credentials to whoever asks from inside. Not all are in private ranges (Azure's is
 * not), and a wide CIDR on the allow list must not open them by accident.
 */
const METADATA = new Set(
  [
    '169.254.169.254', // most clouds
    '169.254.170.2', // ECS tasks
    '169.254.170.23', // EKS pod identity
    '169.254.169.253', // the resolver of a VPC
    '168.63.129.16', // Azure
    '100.100.100.200', // Alibaba
    '192.0.0.192', // Oracle
    'fd00:ec2::254',
    'fd00:ec2::253',
    'fd00:ec2::23',
    'fd20:ce::254', // Google
  ].map((one) => ipaddr.parse(one).toNormalizedString()),
)

export function isMetadata(address: Address): boolean {
  return METADATA.has(address.toNormalizedString())
}
