import type { PostgresDatabase } from '@garner/db/postgres'
import type { Claim } from '../job.ts'
import type { ClaimKind, ClaimRequest } from '../store.ts'
import { numberArray, orNone, textArray } from './arrays.ts'
import { type ClaimedRow, jobOf, type Standing } from './rows.ts'
import { fireSchedules } from './schedules.ts'
import * as sql from './sql.ts'
import type { Acceptance } from './submit.ts'

/** Of what a claim asks for, when it answers none. */
interface Instead {
  id: null
  kind: 'schedules' | 'held'
}

/** 1, 2, 4, 8 and 16 ms: to store a late result takes one or two; a handler that is still writing may take long. */
const HELD_WAITS_MAX_MS = 16

/**
 * One claim: one statement (job_claim_due in migrations/0009_claim_due.sql), and so one round trip and one commit. When it
 * says that schedules are due, they are fired in a transaction of their own, so that a fleet does it once, and it is asked
 * again. When all that is due is a job whose last attempt is still saying something, it is asked a few times more:
 * otherwise the job would wait for the next poll.
 * Cut after its commit: nobody hears of these claims, and their leases run out.
 */
export async function claimDue(
  db: PostgresDatabase,
  { worker, limit, leaseMs, kinds }: ClaimRequest,
  acceptance: Acceptance,
): Promise<Claim[]> {
  const asked = [...new Map(kinds.map((one) => [one.kind, one])).values()]
  if (limit < 1 || asked.length === 0) return []
  const limits = [of(asked, 'perKey'), of(asked, 'concurrency'), of(asked, 'spacingMs')]
  const names = textArray(asked.map((one) => one.kind))
  let withSchedules = 1
  for (let waitMs = 1; ; ) {
    const rows = await db.autocommit.all<ClaimedRow | Instead>(
      sql.CLAIM,
      ...[worker, limit, leaseMs, names, ...limits, withSchedules, acceptance.now()],
    )
    const [first] = rows
    if (first?.id !== null) return claimsOf(rows as ClaimedRow[], leaseMs).sort(inOrder)
    if (first.kind === 'schedules') {
      await fireSchedules(
        db,
        asked.map((one) => one.kind),
        acceptance,
      )
      withSchedules = 0
    } else if (waitMs <= HELD_WAITS_MAX_MS) {
      await db.clock.sleep(waitMs)
      waitMs *= 2
    } else return []
  }
}

function of(kinds: ClaimKind[], limit: 'perKey' | 'concurrency' | 'spacingMs'): string {
  return numberArray(orNone(kinds.map((one) => finite(one[limit]))))
}

function finite(limit: number | undefined): number | null {
  return limit === undefined || limit === Number.POSITIVE_INFINITY ? null : limit
}

function claimsOf(rows: ClaimedRow[], leaseMs: number): Claim[] {
  const claimedAtMs = Number(rows[0]?.started_at_ms)
  const leaseUntilMs = claimedAtMs + leaseMs
  const standing: Standing = { state: 'running', lease_until_ms: leaseUntilMs, finished_at_ms: null }
  return rows.map((row) => {
    const job = jobOf(row, standing)
    return { job, epoch: job.epoch, claimedAtMs }
  })
}

function inOrder({ job: a }: Claim, { job: b }: Claim): number {
  return a.priority - b.priority || a.rank - b.rank || (a.id < b.id ? -1 : 1)
}
