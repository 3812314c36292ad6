/**
 * Everything that can go wrong while a page is fetched, in one list. Whoever stores a failure stores `code`;
 * whoever decides about another try reads `retry`. Nobody reads the message: it is for a person, and says
 * nothing of the address, so that it can be logged and so that two refused addresses cannot be told apart.
 */
export type Retry = 'never' | 'backoff'

/**
 * code → may another try help, and what to tell a person. `http_<status>` is made by `httpError` below.
 * `tls`, `protocol` and `connection` are tried again: servers are restarted, certificates renewed.
 * `dns` too, with long pauses: names come back, and a name just registered is not everywhere yet.
 */
const KINDS = {
  challenge: ['backoff', 'the site asked for a human'],
  timeout: ['backoff', 'the site took too long to answer'],
  too_large: ['never', 'the page is too large, and no title came in its first part'],
  redirect_loop: ['never', 'the address redirects in a circle'],
  too_many_redirects: ['never', 'the address redirects too many times'],
  bad_redirect: ['never', 'the address redirects to somewhere that is not a web page'],
  blocked_address: ['never', 'private addresses are not fetched'],
  blocked_port: ['never', 'this port belongs to another protocol and is not fetched'],
  dns: ['backoff', 'there is no such host'],
  offline: ['backoff', 'this server has no working name lookup or network'],
  tls: ['backoff', 'no safe connection: the certificate or the encryption of the site is broken'],
  protocol: ['backoff', 'the answer is not valid HTTP'],
  connection: ['backoff', 'the connection was refused or cut'],
  decode: ['never', 'the answer is compressed in a way that cannot be undone'],
  header_too_large: ['never', 'the headers of the answer are too large'],
} as const satisfies Record<string, readonly [Retry, string]>

export type PageErrorKind = keyof typeof KINDS
export type PageErrorCode = PageErrorKind | `http_${number}`

/**
 * A fetch that gave no page.
 * `retryAfterMs` is what the server asked for (a duration, at most RETRY_AFTER_MAX_MS); the owner of retries
 * decides. `offline` means this machine, not the site: the caller should not use up attempts on it.
 */
export class PageError extends Error {
  readonly code: PageErrorCode
  readonly retry: Retry
  readonly retryAfterMs?: number

  constructor(
    code: PageErrorCode,
    details: { message: string; retry: Retry; retryAfterMs?: number | undefined; cause?: unknown },
  ) {
    super(details.message, details.cause === undefined ? undefined : { cause: details.cause })
    this.name = 'PageError'
    this.code = code
    this.retry = details.retry
    if (details.retryAfterMs !== undefined) this.retryAfterMs = details.retryAfterMs
  }
}

/** The error of one kind. `cause` is what the network layer said. */
export function pageError(
  kind: PageErrorKind,
  more: { cause?: unknown; retryAfterMs?: number | undefined } = {},
): PageError {
  const [retry, message] = KINDS[kind]
  return new PageError(kind, { retry, message, ...more })
}

/** 408, 429 and 5xx say "later"; any other status is the site's last word. */
export function httpError(status: number, retryAfterMs?: number): PageError {
  const isForLater = status === 408 || status === 429 || (status >= 500 && status <= 599)
  return new PageError(`http_${status}`, {
    retry: isForLater ? 'backoff' : 'never',
    message: `the site answered ${status}`,
    retryAfterMs,
  })
}

/** Names that do not exist, by getaddrinfo and by c-ares. */
const DNS = new Set(['ENOTFOUND', 'ENODATA', 'ENONAME', 'EAI_NONAME', 'EAI_NODATA', 'EAI_FAIL', 'EBADNAME'])
/** The resolver or the network is not there: EAI_AGAIN is what glibc says without a reachable resolver. */
const OFFLINE = new Set(['EAI_AGAIN', 'EAI_SYSTEM', 'ENETUNREACH', 'ENETDOWN', 'ESERVFAIL', 'ETIMEOUT'])
const TIMEOUT = new Set([
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
])
const CONNECTION = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'EPIPE', 'EHOSTUNREACH', 'EHOSTDOWN', 'EADDRNOTAVAIL'],
  ...['EACCES', 'EPERM', 'UND_ERR_SOCKET', 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 'UND_ERR_ABORTED'],
  ...['UND_ERR_DESTROYED', 'UND_ERR_CLOSED', 'ERR_STREAM_PREMATURE_CLOSE'],
])
const TLS =
  /^(ERR_TLS_|ERR_SSL_|ERR_OSSL|EPROTO$|CERT_|CRL_|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_CA)/
const ZLIB = /^(Z_|ERR_.*BROTLI|ERR__ERROR_|ERR_PADDING|ERR_BUFFER_TOO|ZSTD_)/

/**
 * Turns whatever the network layer threw into a PageError. What is unknown becomes `protocol`: undici reports
 * some broken answers as assertion or type errors, and one odd site must not look like a bug of ours.
 */
export function asPageError(error: unknown): PageError {
  if (error instanceof PageError) return error
  if (error instanceof AggregateError && error.errors.length > 0) return ofAllAddresses(error)
  const code = String((error as { code?: unknown } | null)?.code ?? '')
  if (code === 'UND_ERR_HEADERS_OVERFLOW' || code === 'HPE_HEADER_OVERFLOW') {
    return pageError('header_too_large', { cause: error })
  }
  if (DNS.has(code)) return pageError('dns', { cause: error })
  if (OFFLINE.has(code)) return pageError('offline', { cause: error })
  if (TIMEOUT.has(code)) return pageError('timeout', { cause: error })
  if (CONNECTION.has(code)) return pageError('connection', { cause: error })
  if (TLS.test(code)) return pageError('tls', { cause: error })
  if (ZLIB.test(code)) return pageError('decode', { cause: error })
  return pageError('protocol', { cause: error })
}

/**
 * Every address of a host failed. A machine with IPv4 alone reports ENETUNREACH for each IPv6 address, which
 * says nothing of the site, so it only counts when it is the answer of all of them.
 */
function ofAllAddresses(error: AggregateError): PageError {
  const kinds = error.errors.map((one) => asPageError(one))
  const telling = kinds.find((one) => one.code !== 'offline') ?? kinds[0]!
  return new PageError(telling.code, { retry: telling.retry, message: telling.message, cause: error })
}
