import type { AttemptOutcome, AttemptRecord, Job, JobState, Json } from '../job.ts'

/** Whole numbers as they come: a caller's own driver may give bigint columns as strings. */
type Whole = number | string

/** A row of `jobs`, from whichever driver or as JSON. */
export interface JobRow {
  id: string
  kind: string
  tenant: string
  payload: string
  subject: string | null
  subject_version: Whole | null
  key: string | null
  state: JobState
  priority: number
  rank: Whole
  run_at_ms: Whole
  attempt: number
  epoch: Whole
  generation: number
  lease_until_ms: Whole | null
  submitted_at_ms: Whole
  deadline_at_ms: Whole
  started_at_ms: Whole | null
  finished_at_ms: Whole | null
  worker: string | null
  last_error: string | null
  result: string | null
  progress: string | null
}

/** How a job stands, as far as it is the same for all jobs of one claim, so that they need not say it. */
export type Standing = Pick<JobRow, 'state' | 'lease_until_ms' | 'finished_at_ms'>
export type ClaimedRow = Omit<JobRow, keyof Standing | 'worker'>

export function toJob(row: JobRow): Job {
  return jobOf(row, row)
}

export function jobOf(row: ClaimedRow, standing: Standing): Job {
  return {
    id: row.id,
    kind: row.kind,
    tenant: row.tenant,
    payload: JSON.parse(row.payload) as Json,
    subject: row.subject,
    subjectVersion: whole(row.subject_version),
    key: row.key,
    state: standing.state,
    priority: row.priority,
    rank: Number(row.rank),
    runAtMs: Number(row.run_at_ms),
    attempt: row.attempt,
    epoch: Number(row.epoch),
    generation: row.generation,
    leaseUntilMs: whole(standing.lease_until_ms),
    submittedAtMs: Number(row.submitted_at_ms),
    deadlineAtMs: Number(row.deadline_at_ms),
    finishedAtMs: whole(standing.finished_at_ms),
    lastError: row.last_error,
    result: json(row.result),
    progress: json(row.progress),
  }
}

/** The attempt that stands in the job's own row: the one under way, or the one that ended the job. */
export function newestAttempt(row: JobRow): AttemptRecord | null {
  if (row.worker === null) return null
  const hasEnded = row.state !== 'running'
  return {
    generation: row.generation,
    attempt: row.attempt,
    epoch: Number(row.epoch),
    worker: row.worker,
    startedAtMs: Number(row.started_at_ms),
    endedAtMs: whole(row.finished_at_ms),
    outcome: hasEnded ? (row.state as AttemptOutcome) : null,
    error: hasEnded ? row.last_error : null,
  }
}

export function json(text: string | null): Json {
  return text === null ? null : (JSON.parse(text) as Json)
}

function whole(value: Whole | null): number | null {
  return value === null ? null : Number(value)
}
