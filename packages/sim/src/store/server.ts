import type { Clock } from '@garner/db'
import type { Bounds, Job, JobStore } from '@garner/jobs'
import { createMemoryStore, type MemoryTransaction } from '@garner/jobs/memory'
import type { Happening } from '../checks/happening.ts'
import type { Mutation } from '../mutants/mutant.ts'
import type { World } from '../world/world.ts'
import { AppTables } from './app-tables.ts'

/** The store's clock as the store reads it; a mutation may hold another instant under its nose. */
export class StoreClock {
  readonly #real: Pick<Clock, 'nowMs'>
  #heldMs: number | null = null

  constructor(real: Pick<Clock, 'nowMs'>) {
    this.#real = real
  }

  nowMs(): number {
    return this.#heldMs ?? this.#real.nowMs()
  }

  /** Runs `work` with the clock standing at `atMs`. */
  async holding<T>(atMs: number, work: () => Promise<T>): Promise<T> {
    this.#heldMs = atMs
    try {
      return await work()
    } finally {
      this.#heldMs = null
    }
  }
}

export interface ServerOptions {
  bounds: Bounds
  retryAfterMs?: number | undefined
  mutation?: Mutation | undefined
  /** Default: the world's store clock. */
  clock?: Pick<Clock, 'nowMs'> | undefined
}

/**
 * The database of the simulated world: the memory store and the application's tables, on the store's own clock. It
 * never fails by itself; everything that can go wrong is on the way to it (`Connection`). One call at a time, each
 * watched to its end, so what is seen is in the order of the commits.
 */
export class Server {
  readonly world: World
  readonly app = new AppTables()
  readonly clock: StoreClock
  readonly store: JobStore<MemoryTransaction>
  readonly mutation: Mutation | undefined
  #last: Promise<unknown> = Promise.resolve()
  /** Every job that was ever submitted, and what it is about. */
  readonly #known = new Map<string, { subject: string | null; tenant: string }>()
  #hasSchedules = false

  constructor(world: World, { bounds, retryAfterMs, mutation, clock = world.storeClock }: ServerOptions) {
    this.world = world
    this.mutation = mutation
    this.clock = new StoreClock(clock)
    const honest = createMemoryStore({
      clock: {
        nowMs: () => this.clock.nowMs(),
        // Leases and waits are instants; a store measures and sleeps nothing by itself.
        monotonicMs: () => world.timeline.nowMs,
        sleep: (ms) => new Promise((resolve) => world.timeline.after(ms, resolve)),
      },
      bounds: mutation?.bounds ?? bounds,
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    })
    this.store = { ...honest, ...mutation?.store?.(honest, this.clock) }
  }

  /**
   * Runs one call by itself. `see` says what it has done, whether it succeeded or failed, before the next one
   * begins; then the jobs named in it are looked at.
   */
  turn<T>(
    call: () => Promise<T>,
    see: (outcome: { value: T } | { error: unknown }) => Happening[],
  ): Promise<T> {
    const turn = this.#last.then(async () => {
      let outcome: { value: T } | { error: unknown }
      try {
        outcome = { value: await call() }
      } catch (error) {
        outcome = { error }
      }
      await this.#show(see(outcome))
      if ('error' in outcome) throw outcome.error
      return outcome.value
    })
    this.#last = turn.catch(() => {})
    return turn
  }

  async #show(happenings: Happening[]): Promise<void> {
    const touched = new Set<string>()
    for (const one of happenings) {
      if (one.what === 'submitted' && !one.isRepeat) this.#learn(one.job)
      if (one.what === 'scheduled') this.#hasSchedules = true
      if (one.what === 'claimed' && this.#hasSchedules) await this.#showFired()
      for (const id of this.#touchedBy(one)) touched.add(id)
      this.world.see(one)
    }
    for (const id of touched) {
      const found = await this.store.get(id)
      this.world.see({ what: 'seen', id, job: found?.job, attempts: found?.attempts ?? [] })
      if (!found) this.#known.delete(id)
    }
  }

  /** What a claim has made by itself, in the order of the instants. */
  async #showFired(): Promise<void> {
    const jobs = await this.store.list({ limit: 1_000 })
    for (const job of jobs.reverse()) {
      if (this.#known.has(job.id)) continue
      this.#learn(job)
      this.world.see({ what: 'fired', job })
      this.world.see({ what: 'seen', id: job.id, job, attempts: [] })
    }
  }

  #learn({ id, subject, tenant }: Job): void {
    this.#known.set(id, { subject, tenant })
  }

  #touchedBy(one: Happening): string[] {
    switch (one.what) {
      case 'submitted':
        return [one.job.id]
      case 'claimed':
        return one.claims.map(({ job }) => job.id)
      case 'published':
        return one.answer === null ? [] : [one.claim.job.id]
      case 'superseded':
        return this.#where(({ subject }) => subject === one.subject)
      case 'forgotten':
        return this.#where(({ subject, tenant }) =>
          one.subject === undefined ? tenant === one.tenant : subject === one.subject,
        )
      case 'repaired':
      case 'discarded':
      case 'cancelled':
        return [one.id]
      case 'pruned':
        return one.jobs === 0 ? [] : [...this.#known.keys()]
      default:
        return []
    }
  }

  #where(isMeant: (known: { subject: string | null; tenant: string }) => boolean): string[] {
    return [...this.#known].filter(([, known]) => isMeant(known)).map(([id]) => id)
  }
}
