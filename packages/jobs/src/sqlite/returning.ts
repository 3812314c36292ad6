import type { SyncStatements } from '@garner/db/sqlite'
import { returningRank } from '../rank.ts'
import type { ClaimDesk, OpenKind } from './claim.ts'
import type { Found } from './rows.ts'
import * as sql from './sql.ts'

/**
 * What waited for an instant that is over becomes claimable, before a claim looks for candidates: at most 500 jobs of
 * each sort and kind at a time, so that a claim after a long night does not hold the write lock for seconds. What is
 * left is due all the same, and the next claim goes on with it.
 *
 * All that comes back comes through one door (hold 1): jobs for later, retries, those whose lease has run out. Those
 * of one tenant stand one behind the other, however they came.
 */
export function returnWaiting(db: SyncStatements, kinds: OpenKind[], desk: ClaimDesk): void {
  const { nowMs } = desk
  const isOver = (atMs: number | null) => atMs !== null && atMs <= nowMs
  const waited: WaitOver[] = []
  for (const { limits, standing } of kinds) {
    const { kind, leaseUntilMs, heldUntilMs, keyAtMs } = standing
    if (isOver(leaseUntilMs)) returnExpired(db, kind, desk)
    if (isOver(leaseUntilMs) || isOver(heldUntilMs))
      waited.push(...db.all<WaitOver>(sql.WAITS_OVER, kind, nowMs))
    // Instants that nobody waits for are looked at too, by those who make them: else one row of each key would stay.
    if (limits.spacingMs || isOver(keyAtMs)) freeKeys(db, kind, nowMs)
  }
  if (waited.length > 0) takeBack(db, waited)
}

interface WaitOver {
  seq: number
  id: string
  tenant: string
  priority: number
  rank: number
  runAtMs: number
  weight: number
}

/** Their attempts are gone without a word. */
function returnExpired(db: SyncStatements, kind: string, { ledger, nowMs }: ClaimDesk): void {
  for (const one of db.all<Found>(sql.LEASES_OVER, kind, nowMs)) {
    db.run(sql.FILE_EXPIRED, nowMs, one.seq)
    db.run(sql.LEASE_OVER, one.seq)
    ledger.moved(one, 'running', 'ready')
  }
}

/** Back into the line: those of one tenant and priority one behind the other. */
function takeBack(db: SyncStatements, waited: WaitOver[]): void {
  const virtualTimes = new Map(
    db
      .all<{ priority: number; virtualTime: number }>(sql.VIRTUAL_TIMES)
      .map((one) => [one.priority, one.virtualTime]),
  )
  const places = new Map<string, number>()
  for (const { seq, tenant, priority, rank, weight } of waited.sort(inOrder)) {
    const line = JSON.stringify([tenant, priority])
    const place = (places.get(line) ?? 0) + 1
    places.set(line, place)
    const virtualTime = virtualTimes.get(priority) ?? 0
    db.run(sql.WAIT_OVER, returningRank({ rank, virtualTime, weight, place }), seq)
  }
}

function inOrder(a: WaitOver, b: WaitOver): number {
  return a.runAtMs - b.runAtMs || (a.id < b.id ? -1 : 1)
}

/** The next start of these keys is due: of each the first one that was put aside comes back. */
function freeKeys(db: SyncStatements, kind: string, nowMs: number): void {
  for (const { key } of db.all<{ key: string }>(sql.KEYS_DUE, kind, nowMs)) {
    db.run(sql.KEY_DUE, kind, key)
    db.run(sql.FREE_KEY, kind, key, 1, nowMs)
  }
}
