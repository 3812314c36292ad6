import { connect, type Socket } from 'node:net'
import { performance } from 'node:perf_hooks'

/** What a run of the load generator measured. Latencies in ms, sorted. */
export interface LoadResult {
  requests: number
  seconds: number
  perSecond: number
  statuses: Record<string, number>
  latenciesMs: number[]
}

export interface LoadOptions {
  port: number
  clients: number
  /** The run ends after this many answers, or after `seconds`, whichever is given. */
  requests?: number
  seconds?: number
  /** The n-th request, whole: request line, headers and body. */
  request: (n: number) => string
}

/**
 * Closed-loop load over keep-alive connections: each client sends its next request when the last one has been
 * answered. Written on plain sockets, since a full HTTP client costs more than the server that it measures.
 * Understands answers with Content-Length, and 204 and 304.
 */
export async function load({
  port,
  clients,
  requests = Number.POSITIVE_INFINITY,
  seconds,
  request,
}: LoadOptions): Promise<LoadResult> {
  const latenciesMs: number[] = []
  const statuses: Record<string, number> = {}
  let sent = 0
  const startedMs = performance.now()
  const untilMs = seconds === undefined ? Number.POSITIVE_INFINITY : startedMs + seconds * 1000

  await Promise.all(
    Array.from({ length: clients }, async () => {
      const socket = await open(port)
      await new Promise<void>((resolve) => {
        let askedMs = 0
        let seen = Buffer.alloc(0)
        const next = () => {
          if (sent >= requests || performance.now() >= untilMs) {
            socket.end()
            return resolve()
          }
          const n = sent++
          askedMs = performance.now()
          socket.write(request(n))
        }
        socket.on('data', (chunk) => {
          seen = seen.length === 0 ? chunk : Buffer.concat([seen, chunk])
          const length = answerLength(seen)
          if (length === null || seen.length < length) return
          latenciesMs.push(performance.now() - askedMs)
          const status = seen.toString('latin1', 9, 12)
          statuses[status] = (statuses[status] ?? 0) + 1
          seen = seen.subarray(length)
          next()
        })
        socket.on('error', () => resolve())
        socket.on('close', () => resolve())
        next()
      })
    }),
  )
  const elapsed = (performance.now() - startedMs) / 1000
  latenciesMs.sort((a, b) => a - b)
  return {
    requests: latenciesMs.length,
    seconds: elapsed,
    perSecond: latenciesMs.length / elapsed,
    statuses,
    latenciesMs,
  }
}

function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => resolve(socket))
    socket.once('error', reject)
  })
}

/** Bytes of the first answer in `seen`, or null while its head is not whole. */
function answerLength(seen: Buffer): number | null {
  const end = seen.indexOf('\r\n\r\n')
  if (end < 0) return null
  const head = seen.toString('latin1', 0, end)
  const match = /\r\ncontent-length: (\d+)/i.exec(head)
  return end + 4 + (match ? Number(match[1]) : 0)
}

/** The value below which `share` (0..1) of the sorted values lie. */
export function percentile(sorted: number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}
