import type { SyncStatements } from '@garner/db/sqlite'
import { OperationConflict } from '../errors.ts'
import type { Job } from '../job.ts'
import { payloadHash } from '../payload-hash.ts'
import type { Submission } from '../store.ts'
import { type FinishedOperation, type JobCells, toJob } from './rows.ts'
import * as sql from './sql.ts'

/** Whose submission has made a job before: that job, or what is left of it. */
type Known = { job: Job } | { finished: FinishedOperation }

/**
 * What makes a repeated submission harmless (J5): the operations of one transaction, and those that are stored. A job
 * that is there carries its operation id itself, and its payload says whether a repeat is one; of a job that is gone the
 * id and a hash of the payload are kept.
 */
export class Operations {
  readonly #db: SyncStatements
  /** By tenant and operation id; null for what was looked up and is not known. */
  readonly #known = new Map<string, Map<string, Known | null>>()

  constructor(db: SyncStatements) {
    this.#db = db
  }

  /** Looks up what is stored of all of these at once. Without it each is looked up by itself. */
  expect(submissions: Submission[]): void {
    const asked: string[] = []
    for (const { tenant, operationId } of submissions) {
      if (operationId === undefined) continue
      const ofTenant = this.#ofTenant(tenant)
      if (ofTenant.has(operationId)) continue
      ofTenant.set(operationId, null)
      asked.push(operationId)
    }
    if (asked.length === 0) return
    const list = JSON.stringify(asked)
    for (const [operationId, ...cells] of this.#db.rows<[string, ...JobCells]>(sql.OPERATIONS, list)) {
      const job = toJob(cells)
      this.#ofTenant(job.tenant).set(operationId, { job })
    }
    for (const one of this.#db.all<FinishedOperation>(sql.FINISHED_OPERATIONS, list)) {
      this.#ofTenant(one.tenant).set(one.operationId, { finished: one })
    }
  }

  /** The job that this operation has made, if it has. Errors: OperationConflict when that was for another payload. */
  repeated(submission: Submission): Job | undefined {
    this.expect([submission])
    const { tenant, operationId, payload } = submission
    const known = this.#ofTenant(tenant).get(operationId!)
    if (!known) return undefined
    const hash = 'job' in known ? payloadHash(known.job.payload) : known.finished.payloadHash
    if (hash !== payloadHash(payload)) throw new OperationConflict(operationId!)
    return 'job' in known ? known.job : goneJob(known.finished, submission)
  }

  add({ tenant, operationId }: Submission, job: Job): void {
    this.#ofTenant(tenant).set(operationId!, { job })
  }

  drop({ tenant, operationId }: Submission): void {
    this.#ofTenant(tenant).set(operationId!, null)
  }

  #ofTenant(tenant: string): Map<string, Known | null> {
    let ofTenant = this.#known.get(tenant)
    if (!ofTenant) {
      ofTenant = new Map()
      this.#known.set(tenant, ofTenant)
    }
    return ofTenant
  }
}

/** Of a job that is gone only its id and its end are known; the rest is what the repeated submission says. */
function goneJob({ jobId, createdAtMs, state }: FinishedOperation, submission: Submission): Job {
  return {
    id: jobId,
    kind: submission.kind,
    tenant: submission.tenant,
    payload: submission.payload,
    subject: submission.subject ?? null,
    subjectVersion: submission.subjectVersion ?? null,
    key: submission.key ?? null,
    state,
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
