import type { Transaction } from '@garner/db'
import { OperationConflict } from '../errors.ts'
import type { Job } from '../job.ts'
import { payloadHash } from '../payload-hash.ts'
import type { Submission } from '../store.ts'
import { type JobRow, toJob } from './rows.ts'
import * as sql from './sql.ts'

/** The job that this operation already made, if it did. Throws OperationConflict for another payload (J5). */
export async function repeatOf(tx: Transaction, submission: Submission): Promise<Job | undefined> {
  const { operationId, tenant, payload } = submission
  if (operationId === undefined) return undefined
  const known = await tx.get<{ payload_hash: string; job_id: string }>(sql.OPERATION, tenant, operationId)
  if (!known) return undefined
  if (known.payload_hash !== payloadHash(payload)) throw new OperationConflict(operationId)
  const row = await tx.get<JobRow>(sql.ONE, known.job_id)
  return row && toJob(row)
}

export async function rememberOperation(
  tx: Transaction,
  submission: Submission,
  nowMs: number,
): Promise<void> {
  const { operationId, tenant, payload, id } = submission
  if (operationId === undefined) return
  await tx.run(sql.REMEMBER_OPERATION, tenant, operationId, payloadHash(payload), id, nowMs)
}
