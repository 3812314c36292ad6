import type { Claim, Job } from '../../job.ts'
import type { ScheduleRecord } from '../../schedule.ts'
import type { JobCounts, JobTotals, PausedKind } from '../../store.ts'
import type { Inspectable } from '../inspect.ts'

/** A store that says what the test wants, and counts how often it is looked at. */
export interface Saying extends Inspectable {
  looks: number
  fails: Error | null
}

export interface Said {
  counts?: JobCounts[]
  totals?: JobTotals[]
  paused?: PausedKind[]
  schedules?: ScheduleRecord[]
  /** Newest first, as `list` answers. */
  jobs?: Job[]
}

export function storeSaying({
  counts = [],
  totals = [],
  paused = [],
  schedules = [],
  jobs = [],
}: Said): Saying {
  const answer = async <T>(value: T): Promise<T> => {
    if (store.fails) throw store.fails
    return value
  }
  const store: Saying = {
    looks: 0,
    fails: null,
    counts() {
      store.looks++
      return answer(counts)
    },
    totals: () => answer(totals),
    paused: () => answer(paused),
    schedules: () => answer(schedules),
    list: ({ state, limit }) =>
      answer(jobs.filter((job) => state === undefined || job.state === state).slice(0, limit)),
  }
  return store
}

export function jobOf(part: Partial<Job> = {}): Job {
  return {
    ...{
      id: 'job-1',
      kind: 'title',
      tenant: 'alice',
      payload: {},
      subject: null,
      subjectVersion: null,
      key: null,
    },
    ...{ state: 'running', priority: 0, rank: 1, runAtMs: 0, attempt: 1, epoch: 1, generation: 1 },
    ...{ leaseUntilMs: null, submittedAtMs: 0, deadlineAtMs: 86_400_000, finishedAtMs: null },
    ...{ lastError: null, result: null, progress: null },
    ...part,
  }
}

/** A claim of a kind, due and claimed at these instants of the store. */
export function claimOf({ claimedAtMs = 0, ...job }: Partial<Job> & { claimedAtMs?: number } = {}): Claim {
  return { job: jobOf(job), epoch: 1, claimedAtMs }
}
