import type { SyncStatements } from '@garner/db/sqlite'
import type { Pruned, Retention } from '../store.ts'
import type { Ledger } from './ledger.ts'
import { removeJobs } from './lifecycle.ts'
import type { Found } from './rows.ts'
import * as sql from './sql.ts'

/**
 * Removes what is older than its retention, the oldest first. A job's operation id is told how the job had ended, so
 * that a repeat can still be answered; its steps outlive it by their own retention.
 */
export function pruneOld(
  db: SyncStatements,
  { finishedMs, operationsMs, stepsMs, limit }: Retention,
  { ledger, nowMs }: { ledger: Ledger; nowMs: number },
): Pruned {
  const found = db.all<Found>(sql.FINISHED_BEFORE, nowMs - finishedMs, limit)
  for (const { id, state, tenant, operationId } of found) {
    if (operationId !== null) db.run(sql.OPERATION_ENDED, state, tenant, operationId, id)
  }
  if (found.length > 0) removeJobs(db, found, ledger)
  return {
    jobs: found.length,
    operations: db.run(sql.PRUNE_OPERATIONS, nowMs - operationsMs, limit).changes,
    steps: db.run(sql.PRUNE_STEPS, nowMs - stepsMs, limit).changes,
  }
}
