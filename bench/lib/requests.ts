/** Raw requests for the load generator. */
export function saveRequest(url: string): string {
  const body = JSON.stringify({ url, note: 'For Tuesday.', group: 'study' })
  return (
    'POST /api/bookmarks HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Demo-User: alice\r\nContent-Type: application/json\r\n' +
    `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  )
}

export function listRequest(query = ''): string {
  return `GET /api/bookmarks?group=study${query} HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Demo-User: alice\r\n\r\n`
}

/** Bounds that a benchmark of saving does not run into. */
export const UNBOUNDED = { GARNER_MAX_PENDING: '1000000000', GARNER_MAX_PENDING_TOTAL: '1000000000' }
