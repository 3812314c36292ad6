import { Redis, type Result } from 'ioredis'
import type { Listening, Look, News, SharedEntries } from '../store.ts'
import { FILLS, FORGET, INVALIDATE, LOOK, RELEASE, STORE } from './scripts.ts'

export interface ValkeyEntriesOptions {
  /** `redis://` or `rediss://` (TLS), with user, password and database number where needed. Valkey 7.2+, Redis 6.2+. */
  url: string
  /** Begins every key and the channel's name, so that several programs can share a server. */
  prefix: string
  /** What went wrong with a connection; each is tried again by itself. Default: nothing is said. */
  onFault?: (error: Error) => void
}

export interface ValkeyEntries extends SharedEntries {
  close(): Promise<void>
}

/** The fastest that a server which is away is tried again, and the slowest: it is noticed to be back within 2 s. */
const RETRY_MS = 100
const RETRY_MAX_MS = 2_000
/** A connection on which nothing comes for this long while answers are due is given up: the server hangs. */
const SILENCE_MS = 5_000

declare module 'ioredis' {
  interface RedisCommander<Context> {
    garnerLookBuffer(key: string, ...args: (string | number)[]): Result<unknown[], Context>
    garnerStore(key: string, ...args: (string | number | Uint8Array)[]): Result<string, Context>
    garnerRelease(key: string, ...args: (string | number)[]): Result<number, Context>
    garnerInvalidate(key: string, ...args: (string | number)[]): Result<number, Context>
    garnerForget(key: string, ...args: (string | number)[]): Result<number, Context>
  }
}

/**
 * Shared entries in Valkey or Redis, one hash per key, one script per method, one channel for all news. Two
 * connections: one for commands, one that listens.
 *
 * Nothing waits here. A command is sent on a connection that is up or fails at once; none is queued until the server
 * is back, none is sent a second time. How long an answer may take is the caller's business (shared-tier.ts); a late one
 * is nobody's.
 *
 * A server that evicts keys, restarts empty or loses its last second to a failover costs origin reads within the
 * budget, and floors: a copy is then at worst as old as its age says.
 */
export function createValkeyEntries({
  url,
  prefix,
  onFault = () => {},
}: ValkeyEntriesOptions): ValkeyEntries {
  const open = () => {
    const client = new Redis(url, {
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      connectTimeout: RETRY_MAX_MS,
      socketTimeout: SILENCE_MS,
      retryStrategy: (times) => Math.min(RETRY_MAX_MS, RETRY_MS * 2 ** Math.min(times - 1, 10)),
      scripts: {
        garnerLook: { lua: LOOK, numberOfKeys: 1 },
        garnerStore: { lua: STORE, numberOfKeys: 1 },
        garnerRelease: { lua: RELEASE, numberOfKeys: 1 },
        garnerInvalidate: { lua: INVALIDATE, numberOfKeys: 1 },
        garnerForget: { lua: FORGET, numberOfKeys: 1 },
      },
    })
    client.on('error', onFault)
    return client
  }
  const commands = open()
  const channel = `${prefix}news`
  const keyOf = (address: string) => prefix + address
  const listeners = new Set<(news: News) => void>()
  let hearing: Redis | null = null

  /** One connection for all who listen, opened with the first. */
  function hear(): Redis {
    const client = open()
    client.on('ready', () => {
      client.subscribe(channel).catch(onFault)
    })
    client.on('message', (_channel: string, text: string) => {
      const news = newsOf(text)
      if (news) for (const listener of listeners) listener(news)
    })
    return client
  }

  return {
    async look(address, { minVersion, floor, freshMs, token, leaseMs }) {
      const row = await commands.garnerLookBuffer(
        keyOf(address),
        ...[minVersion, floor, freshMs, token, Math.ceil(leaseMs)],
      )
      return lookOf(row)
    },

    async store(address, { token, version, ageMs, keepMs, bytes }) {
      const answer = await commands.garnerStore(
        keyOf(address),
        ...[token, version, Math.ceil(ageMs), Math.max(1, Math.floor(keepMs))],
        asBuffer(bytes),
        ...[channel, address],
      )
      return answer === 'stored' ? 'stored' : 'overtaken'
    },

    async release(address, token) {
      await commands.garnerRelease(keyOf(address), token, channel, address)
    },

    async invalidate(address, { version, keepMs }) {
      await commands.garnerInvalidate(keyOf(address), version, keepMs, channel, address)
    },

    async forget(address, { version, keepMs }) {
      await commands.garnerForget(keyOf(address), version, keepMs, channel, address)
    },

    listen(listener): Listening {
      listeners.add(listener)
      hearing ??= hear()
      const client = hearing
      return {
        get isUp() {
          return client.status === 'ready'
        },
        async close() {
          listeners.delete(listener)
        },
      }
    },

    async close() {
      listeners.clear()
      commands.disconnect()
      hearing?.disconnect()
    },
  }
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

function lookOf([place, leaseMs, floor, version, ageMs, bytes]: unknown[]): Look {
  const fill = FILLS[Number(place)]
  if (fill === undefined) throw new Error('The shared cache answered something else than was asked.')
  return {
    copy: Buffer.isBuffer(bytes) ? { version: Number(version), ageMs: Number(ageMs), bytes } : null,
    floor: Number(floor),
    fill,
    leaseMs: Number(leaseMs),
  }
}

/** `KIND VERSION ADDRESS`; null for what nobody here has sent. */
function newsOf(text: string): News | null {
  const [, kind, version, address] = /^(filled|freed|outdated|forgotten) (\d+) (.*)$/s.exec(text) ?? []
  if (address === undefined) return null
  if (kind === 'filled' || kind === 'freed') return { kind, address }
  return { kind: kind as 'outdated' | 'forgotten', address, version: Number(version) }
}
