import type { SyncStatements } from '@garner/db/sqlite'
import type { Json } from '../job.ts'
import { payloadHash } from '../payload-hash.ts'
import type { Pruned, Retention } from '../store.ts'
import type { Ledger } from './ledger.ts'
import { removeJobs } from './lifecycle.ts'
import type { Found } from './rows.ts'
import * as sql from './sql.ts'

interface Finished extends Found {
  payload: string
  submittedAtMs: number
}

/**
 * Removes what is older than its retention, the oldest first. A job leaves its operation id behind, with how it had ended,
 * so that a repeat can still be answered; its steps outlive it by their own retention.
 */
export function pruneOld(
  db: SyncStatements,
  { finishedMs, operationsMs, stepsMs, limit }: Retention,
  { ledger, nowMs }: { ledger: Ledger; nowMs: number },
): Pruned {
  const found = db.all<Finished>(sql.FINISHED_BEFORE, nowMs - finishedMs, limit)
  for (const { id, state, tenant, operationId, payload, submittedAtMs } of found) {
    if (operationId === null) continue
    const hash = payloadHash(JSON.parse(payload) as Json)
    db.run(sql.KEEP_OPERATION, tenant, operationId, hash, id, submittedAtMs, state)
  }
  if (found.length > 0) removeJobs(db, found, ledger)
  return {
    jobs: found.length,
    operations: db.run(sql.PRUNE_OPERATIONS, nowMs - operationsMs, limit).changes,
    steps: db.run(sql.PRUNE_STEPS, nowMs - stepsMs, limit).changes,
  }
}
