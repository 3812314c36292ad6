import type { SyncStatements } from '@garner/db/sqlite'
import * as sql from './sql.ts'

/** What of a kind is due, or from when on; null where nothing waits for that. Kinds that are paused have none. */
export interface KindStanding {
  kind: string
  isClaimable: 0 | 1
  /** The earliest `runAtMs` that has not come when its job was looked at. */
  heldUntilMs: number | null
  /** When the first lease ends. */
  leaseUntilMs: number | null
  /** When the first key whose jobs were put aside may start one. */
  keyAtMs: number | null
  scheduleAtMs: number | null
}

export function standingOf(db: SyncStatements, kinds: string[], nowMs: number): KindStanding[] {
  return db.all<KindStanding>(sql.STANDING_OF_KINDS, JSON.stringify(kinds), nowMs)
}

/** Milliseconds until something of these kinds may be due, 0 for now, null when nothing waits. Pure. */
export function dueInMs(standings: KindStanding[], nowMs: number): number | null {
  let dueAtMs = Number.POSITIVE_INFINITY
  for (const { isClaimable, heldUntilMs, leaseUntilMs, keyAtMs, scheduleAtMs } of standings) {
    if (isClaimable) return 0
    for (const one of [heldUntilMs, leaseUntilMs, keyAtMs, scheduleAtMs]) {
      if (one !== null && one < dueAtMs) dueAtMs = one
    }
  }
  return dueAtMs === Number.POSITIVE_INFINITY ? null : Math.max(0, dueAtMs - nowMs)
}
