import type { Value } from '@garner/db'
import type { SyncStatements } from '@garner/db/sqlite'
import { OperationConflict } from '../errors.ts'
import type { Job, JobState } from '../job.ts'
import { payloadHash } from '../payload-hash.ts'
import type { Submission } from '../store.ts'
import { type JobCells, toJob } from './rows.ts'
import * as sql from './sql.ts'

interface Known {
  payloadHash: string
  jobId: string
  createdAtMs: number
  /** How its job had ended, once that is pruned. */
  state: JobState | null
}

interface Added {
  hash: string
  job: Job
}

/** What makes a repeated submission harmless (J5): the operations of one transaction, and those that are stored. */
export class Operations {
  readonly #db: SyncStatements
  readonly #nowMs: number
  /** Of this transaction, by tenant and operation id; not stored yet. */
  readonly #added = new Map<string, Map<string, Added>>()

  constructor(db: SyncStatements, nowMs: number) {
    this.#db = db
    this.#nowMs = nowMs
  }

  /** The job that this operation has made, if it has. Errors: OperationConflict when that was for another payload. */
  repeated(submission: Submission): Job | undefined {
    const { tenant, operationId, payload } = submission
    const added = this.#added.get(tenant)?.get(operationId!)
    const known = added ? undefined : this.#db.get<Known>(sql.OPERATION, tenant, operationId!)
    const hash = added?.hash ?? known?.payloadHash
    if (hash === undefined) return undefined
    if (hash !== payloadHash(payload)) throw new OperationConflict(operationId!)
    if (added) return added.job
    const [row] = this.#db.rows<JobCells>(sql.ONE, known!.jobId)
    return row ? toJob(row) : prunedJob(known!, submission)
  }

  add({ tenant, operationId, payload }: Submission, job: Job): void {
    let ofTenant = this.#added.get(tenant)
    if (!ofTenant) {
      ofTenant = new Map()
      this.#added.set(tenant, ofTenant)
    }
    ofTenant.set(operationId!, { hash: payloadHash(payload), job })
  }

  drop({ tenant, operationId }: Submission): void {
    this.#added.get(tenant)?.delete(operationId!)
  }

  /** Writes what was added, a few rows a statement. */
  write(): void {
    let cells: Value[] = []
    for (const [tenant, ofTenant] of this.#added) {
      for (const [operationId, { hash, job }] of ofTenant) {
        cells.push(tenant, operationId, hash, job.id, this.#nowMs)
        if (cells.length < sql.INSERT_ROWS * sql.OPERATION_COLUMNS) continue
        this.#db.run(sql.REMEMBER_MANY, ...cells)
        cells = []
      }
    }
    for (let n = 0; n < cells.length; n += sql.OPERATION_COLUMNS) {
      this.#db.run(sql.REMEMBER_ONE, ...cells.slice(n, n + sql.OPERATION_COLUMNS))
    }
    this.#added.clear()
  }
}

/** Of a job that is gone only its id and its end are known; the rest is what the repeated submission says. */
function prunedJob({ jobId, createdAtMs, state }: Known, submission: Submission): Job {
  return {
    id: jobId,
    kind: submission.kind,
    tenant: submission.tenant,
    payload: submission.payload,
    subject: submission.subject ?? null,
    subjectVersion: submission.subjectVersion ?? null,
    key: submission.key ?? null,
    state: state!,
    priority: submission.priority ?? 0,
    rank: 0,
    runAtMs: submission.runAtMs ?? createdAtMs,
    attempt: 0,
    epoch: 0,
    generation: 1,
    leaseUntilMs: null,
    submittedAtMs: createdAtMs,
    deadlineAtMs: createdAtMs + submission.deadlineMs,
    finishedAtMs: null,
    lastError: null,
    result: null,
    progress: null,
  }
}
