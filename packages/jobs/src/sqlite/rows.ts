import type { Job, JobState, Json } from '../job.ts'

/** A row of `jobs` as the statements of sql.ts give it, as an object. */
export interface JobRow extends Omit<Job, 'payload' | 'result' | 'progress'> {
  seq: number
  payload: string
  result: string | null
  progress: string | null
}

/** The same as an array: its columns in their order. */
export type JobCells = [
  seq: number,
  id: string,
  kind: string,
  tenant: string,
  payload: string,
  subject: string | null,
  subjectVersion: number | null,
  key: string | null,
  state: JobState,
  priority: number,
  rank: number,
  runAtMs: number,
  attempt: number,
  epoch: number,
  generation: number,
  leaseUntilMs: number | null,
  submittedAtMs: number,
  deadlineAtMs: number,
  finishedAtMs: number | null,
  lastError: string | null,
  result: string | null,
  progress: string | null,
]

export function toJob(cells: JobCells): Job {
  return {
    id: cells[1],
    kind: cells[2],
    tenant: cells[3],
    payload: JSON.parse(cells[4]) as Json,
    subject: cells[5],
    subjectVersion: cells[6],
    key: cells[7],
    state: cells[8],
    priority: cells[9],
    rank: cells[10],
    runAtMs: cells[11],
    attempt: cells[12],
    epoch: cells[13],
    generation: cells[14],
    leaseUntilMs: cells[15],
    submittedAtMs: cells[16],
    deadlineAtMs: cells[17],
    finishedAtMs: cells[18],
    lastError: cells[19],
    result: fromText(cells[20]),
    progress: fromText(cells[21]),
  }
}

export function fromRow({ seq: _, payload, result, progress, ...row }: JobRow): Job {
  return {
    ...row,
    payload: JSON.parse(payload) as Json,
    result: fromText(result),
    progress: fromText(progress),
  }
}

/** JSON text that may be missing; null is kept as no text. */
export function fromText(text: string | null): Json {
  return text === null ? null : (JSON.parse(text) as Json)
}

export function toText(value: Json | undefined): string | null {
  return value === undefined || value === null ? null : JSON.stringify(value)
}

/** What is known of a job that is changed from outside its attempts, or removed. */
export interface Found {
  seq: number
  id: string
  kind: string
  tenant: string
  priority: number
  key: string | null
  state: JobState
  epoch: number
  operationId: string | null
}

/** What is kept of an operation whose job is gone. */
export interface FinishedOperation {
  tenant: string
  operationId: string
  payloadHash: string
  jobId: string
  createdAtMs: number
  /** How the job had ended. */
  state: JobState
}
