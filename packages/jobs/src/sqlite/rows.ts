import type { Job, JobState, Json } from '../job.ts'

/** A row of `jobs` as SQLite gives it. */
export interface JobRow {
  id: string
  kind: string
  tenant: string
  payload: string
  subject: string | null
  subject_version: number | null
  key: string | null
  state: JobState
  rank: number
  run_at_ms: number
  attempt: number
  epoch: number
  generation: number
  lease_until_ms: number | null
  submitted_at_ms: number
  deadline_at_ms: number
  finished_at_ms: number | null
  last_error: string | null
  result: string | null
}

export function toJob(row: JobRow): Job {
  return {
    id: row.id,
    kind: row.kind,
    tenant: row.tenant,
    payload: JSON.parse(row.payload) as Json,
    subject: row.subject,
    subjectVersion: row.subject_version,
    key: row.key,
    state: row.state,
    rank: row.rank,
    runAtMs: row.run_at_ms,
    attempt: row.attempt,
    epoch: row.epoch,
    generation: row.generation,
    leaseUntilMs: row.lease_until_ms,
    submittedAtMs: row.submitted_at_ms,
    deadlineAtMs: row.deadline_at_ms,
    finishedAtMs: row.finished_at_ms,
    lastError: row.last_error,
    result: row.result === null ? null : (JSON.parse(row.result) as Json),
  }
}
