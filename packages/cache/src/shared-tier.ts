import type { Clock } from '@garner/db'
import { Breaker } from './breaker.ts'
import type { Deadlines } from './deadlines.ts'
import type { Listening, Look, LookRequest, News, SharedEntries, StoreRequest } from './store.ts'

export interface SharedTierOptions {
  entries: SharedEntries
  clock: Clock
  deadlines: Deadlines
  /** No call takes longer; one that would counts as failed. */
  timeoutMs: number
  /** Told of all that any instance says of a key. */
  onNews: (news: News) => void
}

export interface SharedCounters {
  calls: number
  failures: number
  /** Calls that were not made, because the shared cache is taken to be down. */
  skipped: number
  /** Invalidations that it has not heard of yet. */
  owed: number
}

/** While no news come through, who waits for another's fill looks again this often. */
const LOOK_AGAIN_MS = 100
/** Beyond it the oldest is dropped: its copies end by their age. */
const OWED_MAX = 1_000

/**
 * The shared cache as something that may always fail: every call is bounded in time, none throws, and while it is down
 * none is made. A reader loses at most one short timeout to it.
 *
 * An invalidation that it did not hear is kept and said again when it is back. Until then this instance takes nothing
 * from it for that key; other instances that reach it may serve the old copy, up to its greatest age.
 */
export class SharedTier {
  readonly #options: SharedTierOptions
  readonly #breaker = new Breaker()
  readonly #listening: Listening
  readonly #waiting = new Map<string, Set<() => void>>()
  readonly #owed = new Map<string, { isForgotten: boolean; version: number; keepMs: number }>()
  /** Invalidations under way, by address: a look must not overtake them. */
  readonly #telling = new Map<string, Promise<unknown>>()
  #isPaying = false
  readonly #counters = { calls: 0, failures: 0, skipped: 0 }

  constructor(options: SharedTierOptions) {
    this.#options = options
    this.#listening = options.entries.listen((news) => this.#hear(news))
  }

  counters(): SharedCounters {
    return { ...this.#counters, owed: this.#owed.size }
  }

  /** null: it is as if there were no shared cache. */
  look(address: string, request: LookRequest): Promise<Look | null> {
    if (this.#telling.has(address) || this.#owed.has(address)) return this.#lookAfter(address, request)
    return this.#look(address, request)
  }

  store(address: string, request: StoreRequest): Promise<'stored' | 'overtaken' | null> {
    return this.#call((entries) => entries.store(address, request))
  }

  async release(address: string, token: string): Promise<void> {
    await this.#call((entries) => entries.release(address, token))
  }

  /** Whether the shared cache has heard it. */
  async invalidate(
    address: string,
    { isForgotten, ...request }: { isForgotten: boolean; version: number; keepMs: number },
  ): Promise<boolean> {
    const telling = this.#call(async (entries) => {
      await (isForgotten ? entries.forget(address, request) : entries.invalidate(address, request))
      return true
    })
    // With those that are still on their way from before: a later one that is quick must not hide a slow one.
    const all = Promise.all([this.#telling.get(address), telling])
    this.#telling.set(address, all)
    void all.then(() => {
      if (this.#telling.get(address) === all) this.#telling.delete(address)
    })
    const heard = await telling
    if (heard) return true
    const earlier = this.#owed.get(address)
    this.#owed.delete(address)
    this.#owed.set(address, {
      isForgotten: isForgotten || (earlier?.isForgotten ?? false),
      version: Math.max(request.version, earlier?.version ?? 0),
      keepMs: request.keepMs,
    })
    if (this.#owed.size > OWED_MAX) this.#owed.delete(this.#owed.keys().next().value!)
    return false
  }

  /** Resolves when there is news of `address`, and after `ms` at the latest. */
  news(address: string, ms: number): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(address) ?? new Set()
      this.#waiting.set(address, waiting)
      const wake = () => {
        deadline.drop()
        waiting.delete(wake)
        if (waiting.size === 0) this.#waiting.delete(address)
        resolve()
      }
      const deadline = this.#options.deadlines.in(
        this.#listening.isUp ? ms : Math.min(ms, LOOK_AGAIN_MS),
        wake,
      )
      waiting.add(wake)
    })
  }

  close(): Promise<void> {
    return this.#listening.close()
  }

  /** Not past an invalidation that is on its way, nor while one is owed. */
  async #lookAfter(address: string, request: LookRequest): Promise<Look | null> {
    // Again and again: while one is awaited, another may begin.
    while (this.#telling.has(address)) await this.#telling.get(address)
    if (!this.#owed.has(address)) return this.#look(address, request)
    void this.#pay()
    return null
  }

  /** A look that took too long may have taken the fill lease: the others would wait for one who fills without it. */
  #look(address: string, request: LookRequest): Promise<Look | null> {
    return this.#call(
      (entries) => entries.look(address, request),
      ({ fill }) => void (fill === 'yours' && this.release(address, request.token)),
    )
  }

  #hear(news: News): void {
    this.#options.onNews(news)
    for (const wake of [...(this.#waiting.get(news.address) ?? [])]) wake()
  }

  /** @param tooLate is told of an answer that came after its time; the caller has gone on without it */
  #call<T>(
    make: (entries: SharedEntries) => Promise<T>,
    tooLate: (answer: T) => void = () => {},
  ): Promise<T | null> {
    const { clock, deadlines, entries, timeoutMs } = this.#options
    if (!this.#breaker.lets(clock.monotonicMs())) {
      this.#counters.skipped++
      return Promise.resolve(null)
    }
    this.#counters.calls++
    return new Promise((resolve) => {
      const failed = () => {
        this.#counters.failures++
        this.#breaker.failed(clock.monotonicMs())
        resolve(null)
      }
      const deadline = deadlines.in(timeoutMs, failed)
      make(entries).then(
        (answer) => {
          if (deadline.isOver) return tooLate(answer)
          deadline.drop()
          this.#breaker.succeeded()
          if (this.#owed.size > 0) void this.#pay()
          resolve(answer)
        },
        () => deadline.call(),
      )
    })
  }

  /** Says again what was not heard, one after the other, until something fails. */
  async #pay(): Promise<void> {
    if (this.#isPaying) return
    this.#isPaying = true
    for (const address of [...this.#owed.keys()]) {
      // As it is owed now: while the others were paid, more may have been added.
      const request = this.#owed.get(address)
      this.#owed.delete(address)
      if (request && !(await this.invalidate(address, request))) break
    }
    this.#isPaying = false
  }
}
