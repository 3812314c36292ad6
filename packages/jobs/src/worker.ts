import type { Around, Clock, Queryable } from '@garner/db'
import { type AttemptEnd, runAttempt } from './attempt.ts'
import { InvariantBroken, StoreUnavailable, UnknownKind } from './errors.ts'
import { Heart } from './heart.ts'
import type { Claim } from './job.ts'
import type { JobKind } from './kind.ts'
import type { JobStore } from './store.ts'

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
  leaseMs: number
  /** Longest sleep when nothing is known to be due; other processes' submissions are noticed after it. */
  pollMs: number
  around?: Around
  onFault?: (claim: Claim | null, error: unknown) => void
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

/**
 * Claims due jobs into free slots and runs them. `step()` does it once and never sleeps; `run()` is the loop
 * around it and owns waiting and nothing else. A message that work has come (`wake`) is only a hint: without
 * it the next poll finds the same work (J2).
 *
 * Killed anywhere: the store has the claims; their leases run out; another worker takes them with a higher epoch.
 */
export class Worker<Tx> {
  readonly #options: WorkerOptions<Tx>
  readonly #kinds: Map<string, JobKind<Tx>>
  readonly #heart: Heart<Tx>
  readonly #around: Around
  readonly #stop = new AbortController()
  #active = 0
  #claiming = 0
  #wake = new AbortController()

  constructor(options: WorkerOptions<Tx>) {
    const noRoom = options.kinds.find(({ perKey }) => perKey !== undefined && perKey < 1)
    if (noRoom)
      throw new RangeError(`Kind ${noRoom.kind}: perKey ${noRoom.perKey}; expected at least 1, or none.`)
    this.#options = options
    this.#kinds = new Map(options.kinds.map((one) => [one.kind, one]))
    this.#heart = new Heart({ store: options.store, clock: options.clock, leaseMs: options.leaseMs })
    this.#around = options.around ?? (async (_point, effect) => effect())
  }

  /** Attempts under way. */
  get active(): number {
    return this.#active
  }

  /** One pass: claims into the free slots and starts the attempts. Errors: StoreUnavailable. */
  async step(): Promise<Step> {
    const { store, kinds, slots, name, leaseMs, clock, pollMs } = this.#options
    const free = slots - this.#active
    if (free <= 0 || this.#stop.signal.aborted) {
      return { claimed: 0, waitMs: pollMs, done: Promise.resolve([]) }
    }
    const askedAtMs = clock.monotonicMs()
    let attempts: Promise<AttemptEnd>[]
    this.#claiming++
    try {
      const request = {
        ...{ worker: name, limit: free, leaseMs },
        kinds: kinds.map(({ kind, perKey }) => ({ kind, perKey })),
      }
      const claims = await this.#around('claim.after-commit', () => store.claim(request))
      attempts = claims.map((claim) => this.#attempt(claim, askedAtMs))
    } finally {
      this.#claiming--
    }
    const claimed = attempts.length
    const waitMs = claimed > 0 ? 0 : Math.min(pollMs, (await store.nextDueInMs()) ?? pollMs)
    // Due, and yet nothing was claimed: every due job's key is taken. The end of an attempt wakes the loop.
    const isBlocked = claimed === 0 && waitMs === 0
    return { claimed, waitMs: isBlocked ? pollMs : waitMs, done: Promise.all(attempts) }
  }

  async #attempt(claim: Claim, askedAtMs: number): Promise<AttemptEnd> {
    const { store, read, clock, random, onFault, onEnd } = this.#options
    this.#active++
    const { lost, release } = this.#heart.hold(claim, askedAtMs)
    let end: AttemptEnd = 'stale'
    try {
      const kind = this.#kinds.get(claim.job.kind)
      if (!kind) throw new UnknownKind(claim.job.kind)
      const report = (of: Claim, error: unknown) => onFault?.(of, error)
      const deps = { store, read, clock, random, around: this.#around, onFault: report }
      end = await runAttempt(deps, kind, claim, { lost, stop: this.#stop.signal })
    } catch (error) {
      if (error instanceof InvariantBroken) throw error // rejects `done`, which nobody catches: the process ends
      // No ending could be said: the lease will run out and the job come back. Never lost, only late.
      onFault?.(claim, error)
    } finally {
      release()
      this.#active--
      this.wake()
    }
    onEnd?.(claim, end)
    return end
  }

  /** Hints that something may be due. Cheap, safe to call too often. */
  wake(): void {
    // With a reason of its own: making the default one costs more than the save that it is told of.
    if (!this.#wake.signal.aborted) this.#wake.abort('wake')
  }

  /** The loop. Returns when `signal` aborts; attempts under way are then the caller's to wait for (`stop`). */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, pollMs, onFault } = this.#options
    while (!signal.aborted) {
      this.#wake = new AbortController()
      const wake = this.#wake.signal
      let waitMs: number
      try {
        const step = await this.step()
        waitMs = step.waitMs
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) onFault?.(null, error)
        waitMs = pollMs
      }
      if (waitMs > 0) await clock.sleep(waitMs, AbortSignal.any([signal, wake]))
    }
  }

  /**
   * Finishes what is in hand: waits up to `graceMs` for attempts to end by themselves, then aborts them, which
   * gives them back unfinished (their try does not count), and waits for that, a claim under way included.
   * Claims nothing more from then on.
   */
  async stop(graceMs: number): Promise<void> {
    const { clock } = this.#options
    const untilMs = clock.monotonicMs() + graceMs
    while (this.#isBusy && clock.monotonicMs() < untilMs) await clock.sleep(20)
    this.#stop.abort()
    const lastMs = clock.monotonicMs() + 2_000
    while (this.#isBusy && clock.monotonicMs() < lastMs) await clock.sleep(20)
  }

  get #isBusy(): boolean {
    return this.#active + this.#claiming > 0
  }
}
