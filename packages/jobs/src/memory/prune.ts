import type { Pruned, Retention } from '../store.ts'
import { by, isPending, keyOf, type Tables } from './tables.ts'
import type { MemoryTransaction } from './transaction.ts'

/** Removes what is older than its retention, the oldest first. What a job that goes in the same call leaves may go too. */
export function pruneOld(
  tx: MemoryTransaction,
  tables: Tables,
  { retention: { finishedMs, operationsMs, stepsMs, limit }, nowMs }: { retention: Retention; nowMs: number },
): Pruned {
  const jobs = tables.jobs
    .all()
    .filter((one) => !isPending(one) && one.state !== 'dead' && one.finishedAtMs! < nowMs - finishedMs)
    .sort(
      by(
        (one) => one.finishedAtMs!,
        (one) => one.id,
      ),
    )
    .slice(0, limit)
  for (const { id, state } of jobs) {
    tables.jobs.delete(tx, id)
    tables.attempts.delete(tx, id)
    for (const one of tables.operations.all()) {
      // A repeat is told how it ended.
      if (one.jobId === id) tables.operations.set(tx, keyOf(one.tenant, one.operationId), { ...one, state })
    }
  }

  const operations = tables.operations
    .all()
    .filter((one) => !tables.jobs.get(one.jobId) && one.createdAtMs < nowMs - operationsMs)
    .sort(
      by(
        (one) => one.createdAtMs,
        (one) => one.tenant,
        (one) => one.operationId,
      ),
    )
    .slice(0, limit)
  for (const one of operations) tables.operations.delete(tx, keyOf(one.tenant, one.operationId))

  const steps = tables.steps
    .all()
    .filter((one) => !tables.jobs.get(one.jobId) && one.changedAtMs < nowMs - stepsMs)
    .sort(
      by(
        (one) => one.changedAtMs,
        (one) => one.jobId,
        (one) => one.name,
      ),
    )
    .slice(0, limit)
  for (const one of steps) tables.steps.delete(tx, keyOf(one.jobId, one.name))

  return { jobs: jobs.length, operations: operations.length, steps: steps.length }
}
