import type { Socket } from 'node:net'
import { domainToUnicode } from 'node:url'
import { buildConnector } from 'undici'
import { isPublic, parseAddress } from './addresses.ts'
import { isBadPort, portOf } from './bad-ports.ts'
import type { FetchAllow } from './fetch-allow.ts'
import { asPageError, pageError } from './page-error.ts'

/**
 * The guard against requests into this machine, its network or its cloud. Any member may save any address, and
 * the title comes back to them: without this the fetcher reads private pages aloud.
 *
 * Two checks, for every hop:
 * - `checkTarget` looks at the address as written, before anything is asked: literal addresses, names that mean
 *   "here", ports of other protocols.
 * - `guardedConnector` sits inside the connection. It looks the name up once, checks every address of every
 *   family, and connects to nothing but those: a name that answers differently the second time (rebinding) is
 *   never asked a second time. One private address among public ones refuses the whole name.
 * Taken out, a redirect to 169.254.169.254 or a name for 127.0.0.1 would be fetched; guard.test.ts turns red.
 */

export interface Resolved {
  address: string
  family: number
}
/** Name lookup: every address of every family. Errors: those of `dns.lookup`. */
export type Lookup = (hostname: string) => Promise<readonly Resolved[]>

/**
 * Opens a connection to one of `addresses` and to nothing else; the host name is for TLS and the Host header.
 * Returns the socket while it is still connecting, so that giving up can end that too.
 */
export type Dial = (
  options: buildConnector.Options,
  addresses: readonly Resolved[],
  callback: buildConnector.Callback,
) => Socket

/** Names that stand for this machine, its network, or a metadata service, whatever a resolver says. */
const LOCAL_NAME =
  /(^|\.)(localhost|localdomain|local|internal)$|^(ip6-)?(localhost|loopback)6?$|^(metadata|instance-data|broadcasthost)$/
/** Names that no resolver may be asked for: reserved as never existing (RFC 6761), or not of the DNS (RFC 7686). */
const NO_LOOKUP = /(^|\.)(invalid|onion)$/

/**
 * Refuses an address by how it is written; asks nobody.
 * Errors: PageError `blocked_address`, `blocked_port`, `dns`.
 */
export function checkTarget(url: URL, allow: FetchAllow): void {
  const port = portOf(url)
  const name = url.hostname.replace(/\.$/, '')
  const literal = parseAddress(url.hostname)
  if (literal) {
    if (!isPublic(literal) && !allow.hasAddress(literal, { hostname: url.hostname, port })) {
      throw pageError('blocked_address')
    }
  } else if (LOCAL_NAME.test(name) && !allow.hasHost(name, port)) throw pageError('blocked_address')
  if (isBadPort(port) && !allow.hasHostAndPort(url.hostname, port)) throw pageError('blocked_port')
  if (!literal && (NO_LOOKUP.test(name) || !couldBeAName(name))) throw pageError('dns')
}

/** Labels of 1 to 63 bytes, 253 in all (RFC 1035), punycode that means something. Resolvers choke on the rest. */
function couldBeAName(name: string): boolean {
  const isPunycodeSound = !name.includes('xn--') || !domainToUnicode(name).includes('xn--')
  return (
    name.length <= 253 &&
    name.split('.').every((label) => label.length >= 1 && label.length <= 63) &&
    isPunycodeSound
  )
}

/**
 * The connector for one request: lookup, check, connect, in this order and each once.
 * Errors, by the callback: PageError `blocked_address`, `dns`, `offline`; what the socket reports.
 */
export function guardedConnector(parts: {
  lookup: Lookup
  allow: FetchAllow
  dial: Dial
  signal: AbortSignal
  onSocket: (socket: Socket) => void
}): buildConnector.connector {
  return (options, callback) => {
    const port = Number(options.port || (options.protocol === 'https:' ? 443 : 80))
    checkedAddresses(options.hostname, port, parts).then(
      (addresses) => {
        if (parts.signal.aborted) return callback(asPageError(parts.signal.reason), null)
        const socket = parts.dial(options, addresses, (...answer) => {
          parts.signal.removeEventListener('abort', onAbort)
          if (answer[1]) parts.onSocket(answer[1])
          callback(...answer)
        })
        // A host that swallows packets would keep the socket for minutes after everyone has left.
        const onAbort = () => socket.destroy(asPageError(parts.signal.reason))
        parts.signal.addEventListener('abort', onAbort, { once: true })
      },
      (error) => callback(asPageError(error), null),
    )
  }
}

async function checkedAddresses(
  hostname: string,
  port: number,
  { lookup, allow }: { lookup: Lookup; allow: FetchAllow },
): Promise<readonly Resolved[]> {
  const literal = parseAddress(hostname)
  const addresses = literal
    ? [{ address: literal.toString(), family: literal.kind() === 'ipv6' ? 6 : 4 }]
    : await lookup(hostname)
  if (addresses.length === 0) throw pageError('dns')
  for (const { address } of addresses) {
    const parsed = parseAddress(address)
    if (!parsed || (!isPublic(parsed) && !allow.hasAddress(parsed, { hostname, port }))) {
      throw pageError('blocked_address')
    }
  }
  return addresses
}

/**
 * Connects for real. The connection's own lookup answers with the checked addresses, so that Node can try the
 * families side by side (RFC 8305) without asking a resolver again.
 * HTTP/1.1 only: over HTTP/2 one connection may serve other origins than the one that was checked.
 */
export const dial: Dial = (options, addresses, callback) => {
  const connect = buildConnector({
    allowH2: false,
    maxCachedSessions: 0,
    timeout: 0, // the fetch has one deadline of its own, over everything
    autoSelectFamily: true,
    lookup: (_hostname: string, _options: unknown, done: (error: null, all: readonly Resolved[]) => void) =>
      done(null, addresses),
  } as unknown as buildConnector.BuildOptions)
  const { hostname } = options
  const bare = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
  // undici's connector returns its socket; its types do not say so.
  return connect({ ...options, hostname: bare }, callback) as unknown as Socket
}
