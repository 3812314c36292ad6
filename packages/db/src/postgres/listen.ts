import pg from 'pg'
import type { Clock } from '../clock.ts'
import { cutOff } from './connection.ts'
import { translated } from './errors.ts'

export interface Listener {
  close(): Promise<void>
}

/** 100 ms to 5 s between tries to connect again: polling finds the work meanwhile. */
const WAIT_MS = { first: 100, most: 5_000 }
/**
 * 60 s: this connection is silent by nature, and balancers and address translation forget a silent one after some minutes,
 * mostly without a word to either end.
 */
const KEEP_ALIVE_MS = 60_000

/**
 * LISTEN on a connection of its own, since it belongs to the session and not to a transaction. When the connection is
 * lost it is made again; what was notified in between is not known, so `wake` is called once it is there.
 * It is left without a goodbye: nothing is in hand that one would save, and a server that is gone would never answer it.
 */
export async function listenOn(
  config: pg.ClientConfig,
  { channel, wake, clock }: { channel: string; wake: () => void; clock: Clock },
): Promise<Listener> {
  const end = new AbortController()
  let client: pg.Client | null = null

  async function connect(): Promise<void> {
    const fresh = new pg.Client({
      ...config,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
      query_timeout: config.connectionTimeoutMillis,
    })
    fresh.on('error', () => {}) // 'end' follows
    fresh.on('notification', wake)
    await fresh.connect()
    try {
      await fresh.query(`LISTEN ${pg.escapeIdentifier(channel)}`)
    } catch (error) {
      cutOff(fresh)
      throw error
    }
    client = fresh
    fresh.once('end', () => {
      client = null
      if (!end.signal.aborted) void again()
    })
    if (end.signal.aborted) cutOff(fresh)
  }

  async function again(): Promise<void> {
    for (let waitMs = WAIT_MS.first; ; waitMs = Math.min(2 * waitMs, WAIT_MS.most)) {
      await clock.sleep(waitMs, end.signal)
      if (end.signal.aborted) return
      try {
        await connect()
        return wake()
      } catch {
        // Not there yet.
      }
    }
  }

  try {
    await connect()
  } catch (error) {
    throw translated(error, 'connecting to listen')
  }
  return {
    async close() {
      end.abort('closed')
      if (client) cutOff(client)
    },
  }
}
