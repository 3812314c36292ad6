import type { Clock } from '@garner/db'
import type { App } from '../http.ts'
import { unauthenticated } from '../problem.ts'
import type { Change, Changes } from './changes.ts'

/** 15 s: shorter than the idle limits of the usual proxies (30 to 60 s). */
const KEEP_ALIVE_MS = 15_000
/** A client that does not read is cut off rather than buffered for: it comes back and looks again. */
const BUFFER_MAX_BYTES = 64 * 1024

/**
 * `GET /api/events`: server-sent events that say which things to look at again. People who wait to be let in may
 * listen too: that is how their page opens by itself.
 * @returns ends every open stream, for shutdown
 */
export function registerEvents(app: App, { changes, clock }: { changes: Changes; clock: Clock }): () => void {
  const open = new Set<AbortController>()

  app.get('/api/events', async (request, reply) => {
    const { principal } = request
    if (!principal) throw unauthenticated()
    const ended = new AbortController()
    const waiting: Change[] = []
    let tell = (change: Change): void => void waiting.push(change)
    const unwatch = await changes.watch({ userId: principal.userId, tell: (change) => tell(change) })
    open.add(ended)

    reply.hijack()
    const { raw } = reply
    raw.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      'x-content-type-options': 'nosniff',
    })
    const write = (text: string) => {
      if (raw.writableLength > BUFFER_MAX_BYTES) ended.abort()
      else raw.write(text)
    }
    tell = ({ event, data }) => write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
    write('retry: 2000\n\n: listening\n\n')
    waiting.forEach(tell)

    raw.on('close', () => ended.abort())
    raw.on('error', () => ended.abort())
    while (!ended.signal.aborted) {
      await clock.sleep(KEEP_ALIVE_MS, ended.signal)
      if (!ended.signal.aborted) write(': still here\n\n')
    }
    unwatch()
    open.delete(ended)
    raw.end()
  })

  return () => {
    for (const one of open) one.abort()
  }
}
