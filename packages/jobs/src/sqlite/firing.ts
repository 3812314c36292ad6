import type { SyncStatements } from '@garner/db/sqlite'
import { OperationConflict, QueueFull } from '../errors.ts'
import type { Json } from '../job.ts'
import { firingId, firingsOf, nextInstant, type Schedule, type ScheduleRecord } from '../schedule.ts'
import type { Submission } from '../store.ts'
import type { ClaimDesk, OpenKind } from './claim.ts'
import * as sql from './sql.ts'

export interface ScheduleRow extends Omit<ScheduleRecord, 'payload' | 'key' | 'priority'> {
  payload: string
  key: string | null
  priority: number | null
}

/**
 * Submits what is due of the schedules of these kinds, and moves them on: in the claim's transaction, so an instant
 * is fired once, whoever claims; killed before the commit, the next claim fires it.
 */
export function fireSchedules(db: SyncStatements, kinds: OpenKind[], desk: ClaimDesk): void {
  const { nowMs } = desk
  const due = kinds
    .filter(({ standing }) => standing.scheduleAtMs !== null && standing.scheduleAtMs <= nowMs)
    .flatMap(({ standing }) => db.all<ScheduleRow>(sql.SCHEDULES_DUE, standing.kind, nowMs))
    .map(toSchedule)
    .sort((a, b) => a.nextAtMs - b.nextAtMs || (a.name < b.name ? -1 : 1))
  for (const schedule of due) {
    const { fire, nextAtMs } = firingsOf(schedule, nowMs)
    const fired = fire.filter((atMs) => fireOne(submissionOf(schedule, atMs), desk))
    db.run(sql.MOVE_SCHEDULE, nextAtMs, fired.at(-1) ?? schedule.lastFiredAtMs, schedule.name)
  }
}

/** Answers whether the instant has its job, from now on or from before. */
function fireOne(submission: Submission, { intake, ledger }: ClaimDesk): boolean {
  try {
    intake.take([submission])
  } catch (error) {
    // The clock went back and the schedule has another payload now: the instant had its job all the same.
    if (error instanceof OperationConflict) return true
    if (!(error instanceof QueueFull)) throw error
    ledger.count('schedule_skipped', submission.kind)
    return false
  }
  return true
}

function submissionOf(schedule: ScheduleRecord, atMs: number): Submission {
  const { name, kind, tenant, payload, key, priority, deadlineMs } = schedule
  const id = firingId(name, atMs)
  return { id, operationId: id, runAtMs: atMs, kind, tenant, payload, key, priority, deadlineMs }
}

/** Creates or replaces a schedule. Errors: RangeError for a pattern or zone that is not one. */
export function setSchedule(db: SyncStatements, schedule: Schedule, nowMs: number): void {
  const { name, kind, tenant, payload, cron, zone = 'UTC', missed = 'once' } = schedule
  const { key = null, priority = null, deadlineMs } = schedule
  const firstMs = nextInstant(schedule, nowMs)
  const old = db.get<ScheduleRow>(sql.ONE_SCHEDULE, name)
  const isSameTime =
    old?.kind === kind &&
    old.cron === cron &&
    old.zone === zone &&
    old.key === key &&
    old.priority === priority &&
    old.deadlineMs === deadlineMs
  db.run(
    sql.STORE_SCHEDULE,
    ...[name, kind, tenant, JSON.stringify(payload), cron, zone, missed, key, priority, deadlineMs],
    ...[isSameTime ? old.nextAtMs : firstMs, old?.lastFiredAtMs ?? null],
  )
}

/** What was left out at its creation is left out again. */
export function toSchedule({ payload, key, priority, ...row }: ScheduleRow): ScheduleRecord {
  return {
    ...row,
    payload: JSON.parse(payload) as Json,
    ...(key !== null && { key }),
    ...(priority !== null && { priority }),
  }
}
