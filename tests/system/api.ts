/**
 * Garner's HTTP side as its clients use it: one person of demo mode, JSON in and out.
 */
export interface Answer {
  status: number
  headers: Headers
  text: string
  /** The parsed body; null when it is empty. */
  // biome-ignore lint/suspicious/noExplicitAny: answers of every route, looked into by tests.
  body: any
}

export interface CallOptions {
  /** Of demo mode; null for nobody. `alice` unless told. */
  user?: string | null
  method?: string
  body?: unknown
  headers?: Record<string, string>
  timeoutMs?: number
}

/** One request. Errors: when the connection breaks, and after 30 s. */
export async function call(url: string, options: CallOptions = {}): Promise<Answer> {
  const { user = 'alice', body, headers = {}, timeoutMs = 30_000 } = options
  const response = await fetch(url, {
    method: options.method ?? (body === undefined ? 'GET' : 'POST'),
    headers: {
      ...(user !== null && { 'x-demo-user': user }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    signal: AbortSignal.timeout(timeoutMs),
  })
  const text = await response.text()
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: /json/.test(response.headers.get('content-type') ?? '') && text !== '' ? JSON.parse(text) : null,
  }
}

export interface Item {
  id: string
  url: string
  title: string | null
  title_status: string
  title_error: string | null
  also_saved_as: string | null
  version: number
}

/** Saves a link as alice, to the group study. Errors: any answer but 201, with what was said. */
export async function save(
  server: { url: string },
  body: { url: string } & Record<string, unknown>,
  options: CallOptions = {},
): Promise<Item> {
  const answer = await call(`${server.url}/api/bookmarks`, { ...options, body: { group: 'study', ...body } })
  if (answer.status !== 201) throw new Error(`${answer.status} for ${body.url}: ${answer.text}`)
  return answer.body
}

/** One item with its job and its attempts, as alice sees it. */
export async function look(server: { url: string }, id: string): Promise<Answer> {
  return call(`${server.url}/api/bookmarks/${id}`)
}

/** The whole list of the group study, over all pages; never older than `minVersion`, for whom it waits a little. */
export async function list(server: { url: string }, minVersion?: number): Promise<Item[]> {
  const items: Item[] = []
  const headers: Record<string, string> =
    minVersion === undefined ? {} : { 'x-garner-min-version': String(minVersion) }
  let after = ''
  for (let tries = 1; ; ) {
    const answer = await call(`${server.url}/api/bookmarks?group=study&limit=200${after}`, { headers })
    // Busy: on a machine that ten programs share a read of the database may take longer than a reader's patience.
    if (answer.status === 503 && tries++ < 20) continue
    if (answer.status !== 200) throw new Error(`${answer.status}: ${answer.text}`)
    items.push(...answer.body.items)
    if (answer.body.next === null) return items
    after = `&after=${encodeURIComponent(answer.body.next)}`
  }
}

/** What /metrics says of one series: name and labels exactly as written there; 0 when it is absent. */
export async function metric(server: { url: string }, series: string): Promise<number> {
  const { text } = await call(`${server.url}/metrics`, { user: null })
  const line = text.split('\n').find((one) => one.startsWith(`${series} `))
  return line === undefined ? 0 : Number(line.slice(series.length + 1))
}
