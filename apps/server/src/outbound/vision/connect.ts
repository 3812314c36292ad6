import type { Clock } from '@garner/db'
import OpenAI from 'openai'
import { readAnswer } from './answer.ts'
import { type Ask, chatBody, responseBody } from './call.ts'
import { afterRefusal, type Dialect, FIRST, LESSONS_MAX, refusalOf } from './dialect.ts'
import { createDispatcher, Exchange } from './exchange.ts'
import { judge, KNOWN, knownPicture } from './known-picture.ts'
import type { Parking } from './parking.ts'
import { MEAL, type Question } from './prompt.ts'
import { isAnswer, meaningOf } from './refusal.ts'
import { type Reply, readReply } from './reply.ts'
import { type Described, type Vision, type VisionCall, VisionError, type VisionTest } from './vision.ts'

/**
 * A vision model behind any OpenAI-compatible endpoint.
 *
 * Promises: one deadline over everything that a call does; at most a megabyte read; no retry of an answered or lost
 * call beneath it, since each may be billed (refusals that teach the endpoint's dialect are repeated: they cost
 * nothing); every end says what it cost (vision.ts).
 * Cut before the request is out: nothing was billed. Cut while the provider works in the background: its id was stored
 * before the wait, and `resume` gets the answer. Cut while it works on a plain request: nobody knows; the same
 * Idempotency-Key goes with a second call, and providers that honour it do not bill twice.
 */
export interface Provider {
  /** Base address, with its version: `https://…/v1`. */
  url: string
  model: string
  /** Empty for local servers that want none. */
  key: string
  /** One call, the wait for a background answer included. */
  timeoutMs: number
  clock: Clock
}

export function connect(provider: Provider, parking: Parking): Connection {
  const { clock, model } = provider
  const dispatcher = createDispatcher()
  let dialect = FIRST

  function clientOf(exchange: Exchange): OpenAI {
    const { url, key } = provider
    return new OpenAI({
      ...{ baseURL: url.replace(/\/+$/, ''), apiKey: key || 'none', fetch: exchange.fetch as typeof fetch },
      ...(key === '' && { defaultHeaders: { authorization: null } }),
      // Its own deadline far behind ours, its own retries off: a second call may be a second bill.
      ...{ maxRetries: 0, timeout: provider.timeoutMs * 2 + 60_000 },
      // Nothing from its own environment variables: not their account, not their debug log.
      ...{ organization: null, project: null, adminAPIKey: null, logLevel: 'off' as const },
    })
  }

  /** One question about one picture, in whatever dialect is taken in the end. */
  async function ask(question: Question, picture: Uint8Array, call: VisionCall): Promise<Reply> {
    const trip = new Trip(provider, call.signal)
    try {
      for (let lesson = 0; ; lesson++) {
        const tried = dialect
        const exchange = new Exchange(clock, dispatcher)
        try {
          return await askIn(tried, { model, question, picture }, { call, trip, exchange })
        } catch (error) {
          const better = isAnswer(error) ? afterRefusal(tried, refusalOf(error)) : null
          if (!better || lesson === LESSONS_MAX) throw error
          dialect = better
        }
      }
    } finally {
      trip.end()
    }
  }

  async function askIn(
    tried: Dialect,
    what: Ask,
    { call, trip, exchange }: { call: VisionCall; trip: Trip; exchange: Exchange },
  ): Promise<Reply> {
    const client = clientOf(exchange)
    const options = { signal: trip.signal, headers: { 'Idempotency-Key': call.operationId } }
    const { api } = tried
    const answer = await trip.failing(exchange, async () =>
      api === 'chat'
        ? client.chat.completions.create(chatBody(what, tried), options)
        : client.responses.create(responseBody(what, tried), options),
    )
    if ('unusable' in answer) return answer
    const id = underWayId(answer.envelope)
    if (id === null) return readReply(answer.envelope)
    await call.submitted(id)
    return waitFor(id, trip)
  }

  /** Asks by id until the provider has ended. Asking is free, so trouble on the way only ends it at the deadline. */
  async function waitFor(id: string, trip: Trip): Promise<Reply> {
    for (let pauseMs = POLL_FIRST_MS; ; pauseMs = Math.min(pauseMs * 1.5, POLL_MAX_MS)) {
      const exchange = new Exchange(clock, dispatcher)
      const found = await trip
        .failing(exchange, () => clientOf(exchange).responses.retrieve(id, {}, { signal: trip.signal }))
        .catch((error: unknown) => {
          if (isAnswer(error) && error.status === 404) return LOST
          if (trip.signal.aborted) throw new VisionError(trip.isOver ? 'still_running' : 'aborted', MAYBE)
          return null
        })
      if (found && 'unusable' in found) return found
      if (found && underWayId(found.envelope) === null) return endOf(found.envelope)
      await clock.sleep(pauseMs, trip.signal)
      if (trip.signal.aborted) throw new VisionError(trip.isOver ? 'still_running' : 'aborted', MAYBE)
    }
  }

  /** What the outside hears of an error: ours, and whether the provider is parked from now on. */
  function toVisionError(error: unknown): unknown {
    if (!isAnswer(error)) return error
    const { code, parks, retryAfterMs } = meaningOf(error, clock.nowMs())
    return parks ? parking.park(parks) : new VisionError(code, { retryAfterMs })
  }

  async function settle(work: () => Promise<Reply>): Promise<Reply> {
    try {
      const reply = await work()
      parking.clear()
      return reply
    } catch (error) {
      const ours = toVisionError(error)
      if (!(ours instanceof VisionError && ours.retry === 'parked')) parking.clear()
      throw ours
    }
  }

  return {
    async describe(photo, call) {
      parking.enter()
      return toDescribed(await settle(() => ask(MEAL, photo, call)))
    },
    async resume(providerId, { signal }) {
      const trip = new Trip(provider, signal)
      try {
        return toDescribed(await waitFor(providerId, trip))
      } finally {
        trip.end()
      }
    },
    async test(signal): Promise<VisionTest> {
      const picture = await knownPicture()
      const call = { operationId: `garner-test-${clock.nowMs()}`, signal, submitted: async () => {} }
      return judge(await settle(() => ask(KNOWN, picture, call)).catch(asVisionError))
    },
    close: () => dispatcher.close(),
  }
}

/** All of a Vision but what can be said without a connection. */
export type Connection = Pick<Vision, 'describe' | 'resume' | 'test' | 'close'>

/** Asked soon at first, since small models need a second; every 3 s later, so that a slow one is not asked all the time. */
const POLL_FIRST_MS = 500
const POLL_MAX_MS = 3_000
const MAYBE = { billing: 'unknown' } as const
const LOST = { unusable: 'answer_lost' } as const

function toDescribed(reply: Reply): Described {
  return 'text' in reply ? readAnswer(reply.text) : { outcome: 'unusable', reason: reply.unusable }
}

function asVisionError(error: unknown): VisionError {
  if (error instanceof VisionError) return error
  throw error
}

interface Ended {
  id?: unknown
  status?: unknown
  error?: { code?: unknown } | null
}

/** The id of an answer that is not there yet; null when it has ended, or says nothing of the kind. */
function underWayId(envelope: unknown): string | null {
  const { id, status } = (envelope ?? {}) as Ended
  return typeof id === 'string' && (status === 'queued' || status === 'in_progress') ? id : null
}

/** A background answer's end. `failed` is not billed; `cancelled`, by somebody at the provider, may have been. */
function endOf(envelope: unknown): Reply {
  const { status, error } = (envelope ?? {}) as Ended
  if (status === 'cancelled') return LOST
  if (status !== 'failed') return readReply(envelope)
  if (error?.code === 'rate_limit_exceeded') throw new VisionError('rate_limited')
  throw new VisionError(error?.code === 'server_error' ? 'overloaded' : 'request_refused')
}

/** The time of one call, from its start to its end over all of its requests. */
class Trip {
  readonly signal: AbortSignal
  isOver = false
  readonly #caller: AbortSignal
  readonly #stop = new AbortController()

  constructor({ clock, timeoutMs }: Provider, caller: AbortSignal) {
    this.#caller = caller
    const deadline = new AbortController()
    this.signal = AbortSignal.any([caller, deadline.signal])
    void clock.sleep(timeoutMs, this.#stop.signal).then(() => {
      if (this.#stop.signal.aborted) return
      this.isOver = true
      deadline.abort()
    })
  }

  end(): void {
    this.#stop.abort()
  }

  /**
   * Makes a request, and says of its failure what became of it.
   * Errors: APIError with a status when the provider answered with one; else VisionError.
   */
  async failing(
    exchange: Exchange,
    request: () => PromiseLike<unknown>,
  ): Promise<{ envelope: unknown } | { unusable: 'answer_too_large' | 'malformed_answer' }> {
    try {
      return { envelope: await request() }
    } catch (error) {
      if (isAnswer(error)) throw error
      if (exchange.fault === 'not_a_provider') throw new VisionError('not_a_provider')
      const isGood = exchange.status !== null && exchange.status < 300
      if (isGood && exchange.fault === 'too_large') return { unusable: 'answer_too_large' }
      // It came in whole, and is not what `openai` can read.
      if (isGood && exchange.isWhole) return { unusable: 'malformed_answer' }
      const billing = exchange.mayBeBilled(error) ? 'unknown' : 'none'
      if (this.#caller.aborted) throw new VisionError('aborted', { billing })
      if (this.isOver) throw new VisionError('timeout', { billing })
      throw new VisionError(exchange.phase === 'sent' ? 'connection_lost' : 'unreachable', { billing })
    }
  }
}
