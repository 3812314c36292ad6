import type { Job, JobState } from '../job.ts'
import type { ScheduleRecord } from '../schedule.ts'
import type { JobStore, PausedKind } from '../store.ts'

/** What an operations page shows. Ids, numbers and kinds of error: no payloads, no results. */
export interface Inspection {
  /** Every kind that the store knows of, by name. */
  kinds: KindInspection[]
  schedules: Omit<ScheduleRecord, 'payload'>[]
  /** The newest dead jobs first. */
  dead: DeadJob[]
  /** Whether there are more dead jobs than `dead` shows. */
  hasMoreDead: boolean
}

/** One kind of job, over all tenants and processes. */
export interface KindInspection {
  kind: string
  /** Jobs there are now, by state; a state without any is left out. */
  jobs: Partial<Record<JobState, number>>
  /** For how long the longest-due job has been waiting, in ms; null when none is due. */
  oldestDueMs: number | null
  /** Jobs that have ended, by state, over the store's lifetime. */
  finished: Partial<Record<JobState, number>>
  /** Tries that were put back for another, over the store's lifetime. */
  retries: number
  /** Publications that were refused as late, over the store's lifetime. */
  stalePublications: number
  paused: Omit<PausedKind, 'kind'> | null
}

/** A job that gave up: which, and the kind of its last error. */
export type DeadJob = Pick<
  Job,
  | 'id'
  | 'kind'
  | 'tenant'
  | 'subject'
  | 'attempt'
  | 'epoch'
  | 'generation'
  | 'lastError'
  | 'submittedAtMs'
  | 'finishedAtMs'
>

/** The part of a store that is looked at; nothing is written. */
export type Inspectable = Pick<JobStore<unknown>, 'counts' | 'totals' | 'paused' | 'schedules' | 'list'>

/**
 * Looks at a store once, for an operations page. The parts are read one beside the other, not in one transaction: a
 * job that ends meanwhile may be in two of the numbers, or in none.
 * Errors: StoreUnavailable. One job's history is `store.get(id)`.
 */
export async function inspect(
  store: Inspectable,
  { deadMax = 20 }: { deadMax?: number } = {},
): Promise<Inspection> {
  const [counts, totals, paused, schedules, dead] = await Promise.all([
    store.counts(),
    store.totals(),
    store.paused(),
    store.schedules(),
    store.list({ state: 'dead', limit: deadMax + 1 }),
  ])
  const kinds = new Map<string, KindInspection>()
  const of = (kind: string): KindInspection => {
    const known = kinds.get(kind) ?? untouched(kind)
    kinds.set(kind, known)
    return known
  }
  for (const { kind, state, count, oldestDueMs } of counts) {
    of(kind).jobs[state] = count
    if (oldestDueMs !== null) of(kind).oldestDueMs = oldestDueMs
  }
  for (const { kind, name, value } of totals) {
    if (name === 'retries') of(kind).retries = value
    else if (name === 'stale_publications') of(kind).stalePublications = value
    else if (name.startsWith('finished:'))
      of(kind).finished[name.slice('finished:'.length) as JobState] = value
  }
  for (const { kind, ...pause } of paused) of(kind).paused = pause
  return {
    kinds: [...kinds.values()].sort((a, b) => (a.kind < b.kind ? -1 : 1)),
    schedules: schedules.map(({ payload: _, ...shown }) => shown),
    dead: dead.slice(0, deadMax).map(shownDead),
    hasMoreDead: dead.length > deadMax,
  }
}

function untouched(kind: string): KindInspection {
  return { kind, jobs: {}, oldestDueMs: null, finished: {}, retries: 0, stalePublications: 0, paused: null }
}

function shownDead(job: Job): DeadJob {
  const { id, kind, tenant, subject, attempt, epoch, generation, lastError, submittedAtMs, finishedAtMs } =
    job
  return { id, kind, tenant, subject, attempt, epoch, generation, lastError, submittedAtMs, finishedAtMs }
}
