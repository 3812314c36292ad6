import type { Transaction } from '@garner/db'
import type { PostgresDatabase } from '@garner/db/postgres'
import { OperationConflict, QueueFull } from '../errors.ts'
import type { Json } from '../job.ts'
import { firingId, firingsOf, nextInstant, type Schedule, type ScheduleRecord } from '../schedule.ts'
import type { Submission } from '../store.ts'
import { textArray } from './arrays.ts'
import * as sql from './sql.ts'
import { type Acceptance, submitAll } from './submit.ts'

type Whole = number | string

/** A row of `job_schedules`. */
interface ScheduleRow {
  name: string
  kind: string
  tenant: string
  payload: string
  cron: string
  zone: string
  missed: ScheduleRecord['missed']
  key: string | null
  priority: number | null
  deadlineMs: Whole
  nextAtMs: Whole
  lastFiredAtMs: Whole | null
}

/**
 * Submits what is due of the schedules of these kinds and moves them on, in one transaction. Their rows are locked, so
 * each instant is fired once in a fleet; those that somebody else is firing are passed over. Cut before the commit:
 * nothing of it is there, and the next claim fires them.
 */
export async function fireSchedules(
  db: PostgresDatabase,
  kinds: string[],
  acceptance: Acceptance,
): Promise<void> {
  await db.transaction(async (tx) => {
    const { nowMs } = (await tx.get<{ nowMs: number }>(sql.NOW, acceptance.now()))!
    const rows = await tx.all<ScheduleRow>(sql.DUE_SCHEDULES, textArray(kinds), nowMs, nowMs)
    for (const schedule of rows.map(toSchedule)) {
      const { fire, nextAtMs } = firingsOf(schedule, nowMs)
      let { lastFiredAtMs } = schedule
      for (const atMs of fire) {
        if (await fireOne(tx, submissionOf(schedule, atMs), acceptance)) lastFiredAtMs = atMs
      }
      await tx.run(sql.MOVE_SCHEDULE, nextAtMs, lastFiredAtMs, schedule.name)
    }
  })
}

/** Answers whether the instant has its job, from now on or from before. */
async function fireOne(tx: Transaction, submission: Submission, acceptance: Acceptance): Promise<boolean> {
  try {
    await submitAll(tx, [submission], acceptance)
  } catch (error) {
    // The clock went back and the schedule has another payload now: the instant had its job all the same.
    if (error instanceof OperationConflict) return true
    if (!(error instanceof QueueFull)) throw error
    await tx.get(sql.COUNT, submission.kind, 'schedule_skipped')
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
export async function setSchedule(
  tx: Transaction,
  schedule: Schedule,
  now: () => number | null,
): Promise<void> {
  const { zone = 'UTC', missed = 'once', key = null, priority = null } = schedule
  const { name, kind, tenant, payload, cron, deadlineMs } = schedule
  const { nowMs } = (await tx.get<{ nowMs: Whole }>(sql.NOW, now()))!
  const firstMs = nextInstant(schedule, Number(nowMs))
  const old = await tx.get<ScheduleRow>(sql.LOCK_SCHEDULE, name)
  const isSameTime =
    old !== undefined &&
    [old.kind, old.cron, old.zone, old.key, old.priority, Number(old.deadlineMs)].every(
      (one, index) => one === [kind, cron, zone, key, priority, deadlineMs][index],
    )
  await tx.run(
    sql.KEEP_SCHEDULE,
    ...[name, kind, tenant, JSON.stringify(payload), cron, zone, missed, key, priority, deadlineMs],
    ...[isSameTime ? Number(old.nextAtMs) : firstMs, null],
  )
}

export function toSchedule(row: ScheduleRow): ScheduleRecord {
  const { key, priority, payload, deadlineMs, nextAtMs, lastFiredAtMs, ...rest } = row
  return {
    ...rest,
    ...(key !== null && { key }),
    ...(priority !== null && { priority }),
    payload: JSON.parse(payload) as Json,
    deadlineMs: Number(deadlineMs),
    nextAtMs: Number(nextAtMs),
    lastFiredAtMs: lastFiredAtMs === null ? null : Number(lastFiredAtMs),
  }
}
