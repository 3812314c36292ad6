import type { SyncStatements } from '@garner/db/sqlite'
import { type Job, type JobState, PENDING_STATES, TRANSITIONS } from '../job.ts'
import { RowBatch } from './row-batch.ts'
import * as sql from './sql.ts'

/** A total for all processes, over restarts; the states of jobs are counted under their own names. */
export type Total = 'stale_publications' | 'retries' | 'schedule_skipped' | `finished:${JobState}`

/** Made once: a text put together for each job would be hashed anew for each. */
const FINISHED = Object.fromEntries(
  Object.keys(TRANSITIONS).map((state) => [state, `finished:${state}`]),
) as Record<JobState, Total>

type Moved = Pick<Job, 'kind' | 'tenant' | 'priority' | 'key'>

/**
 * What a transaction changes in the counters and in the keys' lines, added up and written once at its end: a batch of
 * 500 publications then costs five such statements and not 2,000. What moves a job says so here; what is not
 * written is a bug that the bounds would feel (`assertCounters` of testing/model.test.ts looks for it).
 */
export class Ledger {
  readonly #db: SyncStatements
  readonly #nowMs: number
  readonly #counts = new Sums<string, string>()
  readonly #left = new Sums<string, number>()
  readonly #freed = new Sums<string, string>()

  constructor(db: SyncStatements, nowMs: number) {
    this.#db = db
    this.#nowMs = nowMs
  }

  count(name: Total, kind: string): void {
    this.#counts.add(name, kind, 1)
  }

  /**
   * A job has gone from one state to another; from null when it is new, to null when it is removed. Its tenant's line
   * grows elsewhere (intake.ts), where its rank is made.
   */
  moved(job: Moved, from: JobState | null, to: JobState | null): void {
    const { kind, tenant, priority, key } = job
    if (from) this.#counts.add(from, kind, -1)
    if (to) this.#counts.add(to, kind, 1)
    const wasPending = from !== null && PENDING_STATES.includes(from)
    const isPending = to !== null && PENDING_STATES.includes(to)
    if (to && !isPending) this.#counts.add(FINISHED[to], kind, 1)
    if (!wasPending) return
    if (!isPending) this.#left.add(tenant, priority, 1)
    if (to !== 'running' && key !== null) this.#freed.add(kind, key, 1)
  }

  /** Writes what has added up, and begins anew. */
  write(): void {
    const db = this.#db
    const counts = new RowBatch(db, sql.count)
    this.#counts.drain((name, kind, by) => counts.add(name, kind, by))
    counts.write()
    this.#left.drain((tenant, priority, by) => db.run(sql.LINE_SHRINKS, by, tenant, priority))
    this.#freed.drain((kind, key, by) => db.run(sql.FREE_KEY, kind, key, by, this.#nowMs))
  }
}

/** Numbers that add up under two names. */
class Sums<First, Second> {
  readonly #sums = new Map<First, Map<Second, number>>()

  add(first: First, second: Second, by: number): void {
    let sums = this.#sums.get(first)
    if (!sums) {
      sums = new Map()
      this.#sums.set(first, sums)
    }
    sums.set(second, (sums.get(second) ?? 0) + by)
  }

  /** Takes out everything that is not zero. */
  drain(take: (first: First, second: Second, sum: number) => void): void {
    for (const [first, sums] of this.#sums) {
      for (const [second, sum] of sums) if (sum !== 0) take(first, second, sum)
    }
    this.#sums.clear()
  }
}
