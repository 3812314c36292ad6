import ipaddr from 'ipaddr.js'
import { type Address, isMetadata, parseAddress } from './addresses.ts'

/**
 * GARNER_FETCH_ALLOW: what the operator lets the title fetcher reach although it is private.
 * An exact host (with or without a port) opens that host alone; a CIDR opens its addresses, on ports that are
 * not bad, except the metadata addresses, which only their own exact entry opens. An entry never opens what an
 * allowed host redirects to: each hop is checked by itself.
 */
export class FetchAllow {
  readonly #hosts: readonly { host: string; port: number | undefined }[]
  readonly #ranges: readonly [Address, number][]

  constructor(
    hosts: readonly { host: string; port: number | undefined }[] = [],
    ranges: readonly [Address, number][] = [],
  ) {
    this.#hosts = hosts
    this.#ranges = ranges
  }

  /** Is exactly this host (name or address, as in a URL) listed, for this port? */
  hasHost(hostname: string, port: number): boolean {
    const host = hostKey(hostname)
    return this.#hosts.some((one) => one.host === host && (one.port === undefined || one.port === port))
  }

  /** Is this host listed together with this port? Only that lifts the rule about bad ports. */
  hasHostAndPort(hostname: string, port: number): boolean {
    const host = hostKey(hostname)
    return this.#hosts.some((one) => one.host === host && one.port === port)
  }

  /** As far as can be said without a lookup: is this host listed, or an address inside a listed network? */
  reaches(hostname: string, port: number): boolean {
    const address = parseAddress(hostname)
    return address ? this.hasAddress(address, { hostname, port }) : this.hasHost(hostname, port)
  }

  /** May `address` be connected to on `port`, although it is not public, being what `hostname` stands for? */
  hasAddress(address: Address, { hostname, port }: { hostname: string; port: number }): boolean {
    const isListed = this.hasHost(address.toString(), port)
    if (isMetadata(address)) return isListed
    if (isListed || this.hasHost(hostname, port)) return true
    return this.#ranges.some(
      ([base, bits]) => base.kind() === address.kind() && address.match(base as never, bits),
    )
  }
}

function hostKey(hostname: string): string {
  const address = parseAddress(hostname)
  return address ? address.toNormalizedString() : hostname.toLowerCase().replace(/\.$/, '')
}

/**
 * Reads the comma-separated list: `host`, `host:port`, `[v6]:port`, an address, or a CIDR.
 * Errors: a text that names the entry and what was expected, for the config reader to report.
 */
export function parseFetchAllow(
  text: string,
): { ok: true; allow: FetchAllow } | { ok: false; message: string } {
  const hosts: { host: string; port: number | undefined }[] = []
  const ranges: [Address, number][] = []
  for (const entry of text.split(',').map((one) => one.trim())) {
    if (entry === '') continue
    const wrong = entry.includes('/') ? readRange(entry, ranges) : readHost(entry, hosts)
    if (wrong) return { ok: false, message: `${JSON.stringify(entry)}: ${wrong}` }
  }
  return { ok: true, allow: new FetchAllow(hosts, ranges) }
}

function readRange(entry: string, ranges: [Address, number][]): string | undefined {
  if (!ipaddr.isValidCIDR(entry)) {
    return 'expected a network such as 192.168.1.0/24 or fd00::/8 (a host is given without a scheme or path)'
  }
  const [base, bits] = ipaddr.parseCIDR(entry)
  ranges.push([base, bits])
  return undefined
}

function readHost(entry: string, hosts: { host: string; port: number | undefined }[]): string | undefined {
  if (entry.includes('*')) return 'wildcards are not supported; list each host, or a network as CIDR'
  const whole = parseAddress(entry)
  if (whole) {
    hosts.push({ host: whole.toNormalizedString(), port: undefined })
    return undefined
  }
  const [, host, digits] = /^(\[[^\]]+\]|[^:]+)(?::(\d{1,5}))?$/.exec(entry) ?? []
  const expected = 'expected host, host:port or a network as CIDR'
  if (host === undefined) return expected
  const port = digits === undefined ? undefined : Number(digits)
  if (port !== undefined && (port < 1 || port > 65535)) return `port ${digits} is not in 1..65535`
  if (!URL.canParse(`http://${host}/`) || /[@/?#\s\\]/.test(host)) return expected
  hosts.push({ host: hostKey(new URL(`http://${host}/`).hostname), port })
  return undefined
}
