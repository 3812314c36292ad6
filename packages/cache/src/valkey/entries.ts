import type { Clock } from '@garner/db'
import { Redis, type Result } from 'ioredis'
import { AgeClock } from '../age-clock.ts'
import type { Listening, Look, LookRequest, News, SharedEntries } from '../store.ts'
import { FILLS, FORGET, INVALIDATE, LOOK, RELEASE, STORE } from './scripts.ts'
import { ServerClock } from './server-clock.ts'

export interface ValkeyEntriesOptions {
  /** `redis://` or `rediss://` (TLS), with user, password and database number where needed. Valkey 7.2+, Redis 6.2+. */
  url: string
  /** Begins every key and the channel's name, so that several programs can share a server. */
  prefix: string
  clock: Clock
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
  clock,
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
  const age = new AgeClock(clock)
  const server = new ServerClock()
  const gather = gathering(commands)
  commands.on('close', () => server.forget())
  const channel = `${prefix}news`
  const keyOf = (address: string) => prefix + address
  const listeners = new Set<(news: News) => void>()
  let hearing: Redis | null = null

  /** What was read without a script, if nothing more than reading had to be done. null in all doubt. */
  function peeked(row: (Buffer | null)[], { floor, freshMs }: LookRequest): Look | null {
    const [about, bytes] = row
    if (!about || !bytes) return null
    const nowMs = server.atMostMs(age.nowMs())
    if (nowMs === null) return null
    const [v, r, k, f] = about.toString('latin1').split(' ')
    const [version, ageMs, known] = [Number(v), nowMs - Number(r), Number(f)]
    const isFresh = ageMs >= 0 && ageMs < freshMs && nowMs < Number(k)
    if (!isFresh || version < floor) return null
    return { copy: { version, ageMs, bytes }, floor: known, fill: 'unneeded', leaseMs: 0 }
  }

  async function lookInScript(
    key: string,
    { minVersion, floor, freshMs, token, leaseMs }: LookRequest,
  ): Promise<Look> {
    const sentMs = age.nowMs()
    const [serverMs, ...look] = await commands.garnerLookBuffer(
      key,
      ...[minVersion, floor, freshMs, token, Math.ceil(leaseMs)],
    )
    const answer = lookOf(look)
    server.learn({ sentMs, serverMs: Number(serverMs) })
    return answer
  }

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
    // Nearly always the copy is there and fresh. Reading it costs the server, which has one thread for the whole fleet,
    // a tenth of what the script does.
    async look(address, request) {
      const key = keyOf(address)
      gather()
      if (server.atMostMs(age.nowMs()) !== null) {
        const look = peeked(await commands.hmgetBuffer(key, 'p', 'b'), request)
        if (look) return look
      }
      return lookInScript(key, request)
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

/** As many commands as a write takes: more would keep the server waiting for work. */
const GATHERED_MAX = 16

/**
 * What is sent in one turn of the event loop leaves in few writes. Readers come in crowds, and a system call for each of
 * them would cost more than all the rest of a hit.
 */
function gathering(client: Redis): () => void {
  let gathers: Redis['stream'] | null = null
  let gathered = 0
  const go = () => {
    gathers?.uncork()
    gathers = null
  }
  return () => {
    const { stream } = client
    if (gathers && gathers === stream && ++gathered < GATHERED_MAX) return
    const isPlanned = gathers !== null
    go()
    if (!stream) return
    gathers = stream
    gathered = 0
    stream.cork()
    if (!isPlanned) setImmediate(go)
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
