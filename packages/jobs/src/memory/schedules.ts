import { OperationConflict, QueueFull } from '../errors.ts'
import { firingId, firingsOf, nextInstant, type Schedule, type ScheduleRecord } from '../schedule.ts'
import type { Submission } from '../store.ts'
import { type Acceptance, submitOne } from './submit.ts'
import { by, type Tables } from './tables.ts'
import type { MemoryTransaction } from './transaction.ts'

/** Submits what is due of the schedules of these kinds, and moves them on. */
export function fireSchedules(
  tx: MemoryTransaction,
  tables: Tables,
  kinds: ReadonlyMap<string, unknown>,
  acceptance: Acceptance,
): void {
  const due = tables.schedules
    .all()
    .filter((one) => kinds.has(one.kind) && one.nextAtMs <= acceptance.nowMs)
    .sort(
      by(
        (one) => one.nextAtMs,
        (one) => one.name,
      ),
    )
  for (const schedule of due) {
    const { fire, nextAtMs } = firingsOf(schedule, acceptance.nowMs)
    const fired = fire.filter((atMs) => fireOne(tx, tables, submissionOf(schedule, atMs), acceptance))
    const lastFiredAtMs = fired.at(-1) ?? schedule.lastFiredAtMs
    tables.schedules.set(tx, schedule.name, { ...schedule, nextAtMs, lastFiredAtMs })
  }
}

/** Answers whether the instant has its job, from now on or from before. */
function fireOne(
  tx: MemoryTransaction,
  tables: Tables,
  submission: Submission,
  acceptance: Acceptance,
): boolean {
  try {
    submitOne(tx, tables, submission, acceptance)
  } catch (error) {
    // The clock went back and the schedule has another payload now: the instant had its job all the same.
    if (error instanceof OperationConflict) return true
    if (!(error instanceof QueueFull)) throw error
    tables.addToTotal(tx, submission.kind, 'schedule_skipped')
    return false
  }
  return true
}

function submissionOf(schedule: ScheduleRecord, atMs: number): Submission {
  const { name, kind, tenant, payload, key, priority, deadlineMs } = schedule
  const id = firingId(name, atMs)
  return { id, operationId: id, runAtMs: atMs, kind, tenant, payload, key, priority, deadlineMs }
}

/** Creates or replaces a schedule. */
export function setSchedule(
  tx: MemoryTransaction,
  tables: Tables,
  { schedule, nowMs }: { schedule: Schedule; nowMs: number },
): void {
  const { zone = 'UTC', missed = 'once' } = schedule
  const firstMs = nextInstant(schedule, nowMs) // throws for a pattern or zone that is not one
  const old = tables.schedules.get(schedule.name)
  tables.schedules.set(tx, schedule.name, {
    ...structuredClone(schedule),
    zone,
    missed,
    nextAtMs: old && isSameTime(old, { ...schedule, zone }) ? old.nextAtMs : firstMs,
    lastFiredAtMs: old?.lastFiredAtMs ?? null,
  })
}

/** Whether nothing but payload, tenant or policy has changed. */
function isSameTime(old: ScheduleRecord, now: Schedule): boolean {
  return (['kind', 'cron', 'zone', 'key', 'priority', 'deadlineMs'] as const).every(
    (one) => old[one] === now[one],
  )
}
