import type { Around, Clock, Queryable } from '@garner/db'
import { Attempt } from './attempt.ts'
import { Deadlines } from './deadlines.ts'
import { InvariantBroken, StoreUnavailable, UnknownKind } from './errors.ts'
import { Events } from './events.ts'
import { type Handling, handlingOf } from './handle.ts'
import { Heart } from './heart.ts'
import type { Claim } from './job.ts'
import type { JobKind } from './kind.ts'
import { Ring } from './ring.ts'
import { type AttemptDeps, type AttemptEnd, runAttempt } from './run-attempt.ts'
import type { ClaimKind, ClaimRequest, JobStore, Listening } from './store.ts'

/** What a worker is made of. Clock and randomness come from outside. */
export interface WorkerOptions<Tx> {
  store: JobStore<Tx>
  /** For `isAllowed` at claim time. */
  read: Queryable
  kinds: JobKind<Tx>[]
  clock: Clock
  random: () => number
  /** This worker's name in attempt records. */
  name: string
  /** Attempts at a time. */
  slots: number
  /** Most jobs taken by one claim. Default 500: enough to share a commit, few enough to be published within a lease. */
  claimMax?: number
  leaseMs: number
  /** Longest sleep when nothing is known to be due; what no hint came for is noticed after it. */
  pollMs: number
  around?: Around
  onFault?: (claim: Claim | null, error: unknown) => void
  /** Told of each attempt's start, before its handler is called: for counting. */
  onStart?: (claim: Claim) => void
  /** Told of each attempt's end: for counting and for waking those who show it. */
  onEnd?: (claim: Claim, end: AttemptEnd) => void
}

/** What one pass did. `done` counts the ends once all of its attempts are over. */
export interface Step {
  claimed: number
  /** How long the loop may sleep before the next pass is worth it. */
  waitMs: number
  done: Promise<AttemptEnd[]>
}

/** An attempt that has ended. */
export interface AttemptEvent {
  claim: Claim
  end: AttemptEnd
}

/** A claim under way. */
interface Asked {
  limit: number
  atMs: number
  claims: Promise<Claim[]>
}

/**
 * Claims due jobs into free slots and runs them. `step()` does it once and never sleeps; `run()` is the loop
 * around it and owns waiting and nothing else. A message that work has come (`wake`) is only a hint: without
 * it the next poll finds the same work (J2).
 *
 * Killed anywhere: the store has the claims; their leases run out; another worker takes them with a higher epoch.
 */
export class Worker<Tx> {
  /** Each attempt's end, in this process. */
  readonly events = new Events<AttemptEvent>()
  readonly #options: WorkerOptions<Tx>
  readonly #kinds: Map<string, JobKind<Tx>>
  readonly #kindsAsked: ClaimKind[]
  readonly #names: string[]
  readonly #deps: AttemptDeps<Tx>
  readonly #heart: Heart<Tx>
  readonly #active = new Ring<Attempt<Tx>>()
  #listening: Listening | null = null
  #isStopped = false
  /** Claims that are asked for and whose attempts have not been started yet. */
  #claiming = 0
  #isAsleep = false
  /** What a hint has asked for while the loop slept. */
  #asked: Asked | null = null
  #wake = new AbortController()

  constructor(options: WorkerOptions<Tx>) {
    const { store, read, kinds, clock, random, leaseMs, around, onFault } = options
    for (const kind of kinds) assertRoom(kind)
    this.#options = options
    this.#kinds = new Map(kinds.map((one) => [one.kind, one]))
    this.#kindsAsked = kinds.map(({ kind, perKey, concurrency, spacingMs }) => ({
      ...{ kind, perKey, concurrency, spacingMs },
    }))
    this.#names = kinds.map((one) => one.kind)
    this.#heart = new Heart({ store, clock, leaseMs })
    const report = (claim: Claim, error: unknown) => onFault?.(claim, error)
    const deadlines = new Deadlines(clock)
    this.#deps = { store, read, clock, random, deadlines, around, onFault: report }
  }

  /** Attempts under way. */
  get active(): number {
    return this.#active.size
  }

  /** One pass: claims into the free slots and starts the attempts. Errors: StoreUnavailable. */
  async step(): Promise<Step> {
    const { store, pollMs } = this.#options
    const asked = this.#asked ?? this.#ask()
    this.#asked = null
    if (!asked) return { claimed: 0, waitMs: pollMs, done: Promise.resolve([]) }
    let attempts: Promise<AttemptEnd>[]
    try {
      attempts = this.#start(await asked.claims, asked.atMs)
    } finally {
      this.#claiming--
    }
    const claimed = attempts.length
    if (claimed > 0) {
      if (claimed === asked.limit) await this.#hint((listening) => listening.busy())
      return { claimed, waitMs: 0, done: Promise.all(attempts) }
    }
    await this.#hint((listening) => listening.resting(2 * pollMs))
    const waitMs = Math.min(pollMs, (await store.nextDueInMs(this.#names)) ?? pollMs)
    // Due, and yet nothing was claimed: every due job's key is taken. The end of an attempt wakes the loop.
    return { claimed, waitMs: waitMs === 0 ? pollMs : waitMs, done: Promise.all(attempts) }
  }

  /** Asks for as many jobs as there are free slots; null when there is none, or nothing is to be claimed any more. */
  #ask(): Asked | null {
    const { slots, claimMax = 500, clock } = this.#options
    const limit = Math.min(slots - this.#active.size, claimMax)
    if (limit <= 0 || this.#isStopped) return null
    this.#claiming++
    const asked = { limit, atMs: clock.monotonicMs(), claims: this.#claim(limit) }
    asked.claims.catch(() => {}) // told when it is waited for
    return asked
  }

  async #claim(limit: number): Promise<Claim[]> {
    const { store, name, leaseMs, around } = this.#options
    const request: ClaimRequest = { worker: name, limit, leaseMs, kinds: this.#kindsAsked }
    return around ? around('claim.after-commit', () => store.claim(request)) : store.claim(request)
  }

  /**
   * The store's hint. It may come from inside the transaction that the work comes with, and a claim that is asked for at
   * once then shares its commit: one sync less between a submission and its handler.
   */
  #hear(): void {
    if (this.#isAsleep) this.#asked ??= this.#ask()
    this.wake()
  }

  /** Batch kinds get their attempts in one call, so the handlers are known before the first attempt starts. */
  #start(claims: Claim[], askedAtMs: number): Promise<AttemptEnd>[] {
    const counts = new Map<string, number>()
    for (const { job } of claims) counts.set(job.kind, (counts.get(job.kind) ?? 0) + 1)
    const handlings = new Map<string, Handling<Tx>[]>()
    for (const [name, count] of counts) {
      const kind = this.#kinds.get(name)
      if (kind) handlings.set(name, handlingOf(kind, count))
    }
    return claims.map((claim) => {
      const handling = handlings.get(claim.job.kind)?.pop()
      return this.#attempt(claim, askedAtMs, handling)
    })
  }

  async #attempt(claim: Claim, askedAtMs: number, handling: Handling<Tx> | undefined): Promise<AttemptEnd> {
    const { store, clock, around, onFault, onStart, onEnd } = this.#options
    const attempt = new Attempt<Tx>({ store, clock, claim, askedAtMs, around })
    if (this.#isStopped) attempt.cut('stopped')
    const active = this.#active.add(attempt)
    const release = this.#heart.hold(claim, askedAtMs, () => attempt.cut('lost'))
    let end: AttemptEnd = 'stale'
    try {
      onStart?.(claim)
      const kind = this.#kinds.get(claim.job.kind)
      if (!kind || !handling) throw new UnknownKind(claim.job.kind)
      end = await runAttempt(this.#deps, kind, attempt, handling)
    } catch (error) {
      if (error instanceof InvariantBroken) throw error // rejects `done`, which nobody catches: the process ends
      // No ending could be said: the lease will run out and the job come back. Never lost, only late.
      onFault?.(claim, error)
    } finally {
      release()
      active.leave()
      this.wake()
    }
    onEnd?.(claim, end)
    this.events.say({ claim, end })
    return end
  }

  /** Hints that something may be due. Cheap, safe to call too often. */
  wake(): void {
    // With a reason of its own: making the default one costs more than the save that it is told of.
    if (!this.#wake.signal.aborted) this.#wake.abort('wake')
  }

  /**
   * Steps until nothing that could be claimed is left, and waits for the attempts; sleeps nowhere. Jobs that are due
   * later (retries included) stay. For tests and for one pass by hand. Errors: StoreUnavailable.
   */
  async drain(): Promise<AttemptEnd[]> {
    const ends: AttemptEnd[] = []
    for (;;) {
      const { claimed, done } = await this.step()
      if (claimed === 0) return ends
      ends.push(...(await done))
    }
  }

  /** Without hints work is found by polling, so a store that cannot give any now is asked again at the next pass. */
  async #listen(): Promise<void> {
    if (this.#listening) return
    try {
      this.#listening = await this.#options.store.listen(() => this.#hear())
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error
    }
  }

  /** What is said about hints is a hint itself: that the store is away now shows where it matters. */
  async #hint(say: (listening: Listening) => Promise<void>): Promise<void> {
    try {
      if (this.#listening) await say(this.#listening)
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error
    }
  }

  /** The loop. Returns when `signal` aborts; attempts under way are then the caller's to wait for (`stop`). */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, pollMs, onFault } = this.#options
    while (!signal.aborted) {
      this.#wake = new AbortController()
      const wake = this.#wake.signal
      let waitMs: number
      try {
        await this.#listen()
        waitMs = (await this.step()).waitMs
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) onFault?.(null, error)
        waitMs = pollMs
      }
      if (waitMs <= 0) continue
      this.#isAsleep = true
      await clock.sleep(waitMs, AbortSignal.any([signal, wake]))
      this.#isAsleep = false
    }
    if (this.#asked) await this.#last()
    await this.#hint((listening) => listening.close())
    this.#listening = null
  }

  /** What a hint had asked for when the loop ended is started too: left alone it would wait for the end of its lease. */
  async #last(): Promise<void> {
    try {
      await this.step()
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) this.#options.onFault?.(null, error)
    }
  }

  /**
   * Finishes what is in hand: waits up to `graceMs` for attempts to end by themselves, then cuts them short, which
   * gives them back unfinished (their try does not count), and waits for that, a claim under way included.
   * Claims nothing more from then on.
   */
  async stop(graceMs: number): Promise<void> {
    const { clock } = this.#options
    const untilMs = clock.monotonicMs() + graceMs
    while (this.#isBusy && clock.monotonicMs() < untilMs) await clock.sleep(20)
    this.#isStopped = true
    for (const attempt of this.#active.members()) attempt.cut('stopped')
    const lastMs = clock.monotonicMs() + 2_000
    while (this.#isBusy && clock.monotonicMs() < lastMs) await clock.sleep(20)
    this.events.close()
  }

  get #isBusy(): boolean {
    return this.#active.size + this.#claiming > 0
  }
}

/** A kind that no job could ever run for would wait for ever, and quietly. */
function assertRoom({ kind, perKey, concurrency, spacingMs }: ClaimKind): void {
  for (const [name, value] of Object.entries({ perKey, concurrency })) {
    if (value !== undefined && !(value >= 1)) {
      throw new RangeError(`Kind ${kind}: ${name} ${value}; expected at least 1, or none.`)
    }
  }
  if (spacingMs !== undefined && !(spacingMs >= 0)) {
    throw new RangeError(`Kind ${kind}: spacingMs ${spacingMs}; expected 0 or more, or none.`)
  }
}
