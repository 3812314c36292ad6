import type { Claim } from '../job.ts'
import { returningRank } from '../rank.ts'
import type { ClaimRequest } from '../store.ts'
import { type JobRow, type Tables, toJob } from './tables.ts'
import type { MemoryTransaction } from './transaction.ts'

/**
 * One claim: what may be done again comes back first (leases that have run out, holds that are over), then the
 * due jobs are taken in order of rank, each one if its key has room.
 */
export function claimDue(
  tx: MemoryTransaction,
  tables: Tables,
  { worker, limit, leaseMs, kinds }: ClaimRequest,
  nowMs: number,
): Claim[] {
  if (limit < 1) return []
  returnExpired(tx, tables, nowMs)
  releaseDue(tx, tables, nowMs)

  const perKey = new Map(kinds.map((one) => [one.kind, one.perKey ?? Number.POSITIVE_INFINITY]))
  const candidates = tables.jobs
    .all()
    .filter((one) => one.state === 'ready' && one.hold === null && perKey.has(one.kind))
    .sort(inOrder)
  const claims: Claim[] = []
  for (const one of candidates) {
    if (claims.length === limit) break
    if (!hasRoom(tables, one, perKey.get(one.kind)!)) {
      tables.patch(tx, one, { hold: 'key' })
      continue
    }
    const { epoch, attempt } = { epoch: one.epoch + 1, attempt: one.attempt + 1 }
    const row = tables.patch(tx, one, { state: 'running', epoch, attempt, leaseUntilMs: nowMs + leaseMs })
    tables.attempts.set(tx, row.id, [
      ...(tables.attempts.get(row.id) ?? []),
      {
        generation: row.generation,
        attempt,
        epoch,
        worker,
        startedAtMs: nowMs,
        endedAtMs: null,
        outcome: null,
        error: null,
      },
    ])
    tables.virtualTimes.set(tx, '', Math.max(tables.virtualTime, row.rank))
    claims.push({ job: toJob(row), epoch })
  }
  return claims
}

function returnExpired(tx: MemoryTransaction, tables: Tables, nowMs: number): void {
  const { virtualTime } = tables
  for (const one of tables.jobs.all()) {
    if (one.state !== 'running' || one.leaseUntilMs! > nowMs) continue
    const row = tables.patch(tx, one, {
      state: 'ready',
      leaseUntilMs: null,
      rank: Math.max(one.rank, virtualTime),
      lastError: 'lease_expired',
    })
    tables.endAttempt(tx, row, { endedAtMs: nowMs, outcome: 'lease_expired', error: 'lease_expired' })
    tables.freeKey(tx, row)
  }
}

function releaseDue(tx: MemoryTransaction, tables: Tables, nowMs: number): void {
  const { virtualTime } = tables
  const places = new Map<string, number>()
  const due = tables.jobs
    .all()
    .filter((one) => one.state === 'ready' && one.hold === 'time' && one.runAtMs <= nowMs)
    .sort((a, b) => a.runAtMs - b.runAtMs || (a.id < b.id ? -1 : 1))
  for (const one of due) {
    const place = (places.get(one.tenant) ?? 0) + 1
    places.set(one.tenant, place)
    tables.patch(tx, one, { hold: null, rank: returningRank({ rank: one.rank, virtualTime, place }) })
  }
}

function hasRoom(tables: Tables, { kind, key }: JobRow, perKey: number): boolean {
  if (key === null) return true
  const running = tables.jobs
    .all()
    .filter((one) => one.state === 'running' && one.kind === kind && one.key === key)
  return running.length < perKey
}

function inOrder(a: JobRow, b: JobRow): number {
  return a.rank - b.rank || (a.id < b.id ? -1 : 1)
}
