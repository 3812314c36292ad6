import { Cron } from 'croner'
import type { Json } from './job.ts'

/**
 * A job that is submitted again and again. Its next instant is a row in the store, and firing it (the job, and the
 * row moved on) is one transaction, so a fleet fires each instant once; the job's operation id is the schedule's
 * name and instant, which a repeat would meet.
 */
export interface Schedule {
  /** One schedule of a name. */
  name: string
  kind: string
  tenant: string
  payload: Json
  /** Five or six fields (with seconds), as croner reads them: `0 7 * * 1-5`. */
  cron: string
  /**
   * IANA name; default UTC. A time of day that a change of clocks skips is fired at its end, one that it repeats is
   * fired once. A pattern with a wildcard or a step in its time (every half hour) goes on through both.
   */
  zone?: string | undefined
  /**
   * Instants that passed while no worker was there: `skip` forgets those that are more than a minute late, `once`
   * (the default) makes one job for all of them, `all` one for each, the newest 100 at most.
   */
  missed?: 'skip' | 'once' | 'all' | undefined
  key?: string | undefined
  priority?: number | undefined
  /** Of each job; see Submission. */
  deadlineMs: number
}

/** A schedule as it is stored, with its next instant. Unix ms. */
export interface ScheduleRecord extends Schedule {
  zone: string
  missed: 'skip' | 'once' | 'all'
  nextAtMs: number
  lastFiredAtMs: number | null
}

/** A minute: what a restart or a slow poll may take. */
const LATE_MS = 60_000
/** 100: a minutely schedule of a machine that was off for a week would otherwise make 10,080 jobs at once. */
const CATCH_UP_MAX = 100

/** The first instant after `afterMs`. Pure. Errors: RangeError for what is no pattern or zone, or never comes. */
export function nextInstant(schedule: Pick<Schedule, 'cron' | 'zone'>, afterMs: number): number {
  const { cron, zone = 'UTC' } = schedule
  let next: Date | null
  try {
    next = patternOf(schedule).nextRun(new Date(afterMs))
  } catch (error) {
    throw new RangeError(`Schedule "${cron}" in zone ${zone} is not one.`, { cause: error })
  }
  if (!next) throw new RangeError(`Schedule "${cron}" never comes.`)
  return next.getTime()
}

/**
 * Which instants to fire now, oldest first, and the next one to wait for. Looks back from now, not through all that
 * was missed: a schedule of every second of a machine that was off for a month has missed 2,678,400. Pure.
 */
export function firingsOf(
  schedule: Pick<ScheduleRecord, 'cron' | 'zone' | 'missed' | 'nextAtMs'>,
  nowMs: number,
): { fire: number[]; nextAtMs: number } {
  if (schedule.nextAtMs > nowMs) return { fire: [], nextAtMs: schedule.nextAtMs }
  const most = schedule.missed === 'all' ? CATCH_UP_MAX : 1
  const newestFirst = patternOf(schedule).previousRuns(most, new Date(nowMs + 1)) // an instant that is now is due
  const missed = newestFirst.map((one) => one.getTime()).filter((atMs) => atMs >= schedule.nextAtMs)
  const isInTime = (atMs: number) => schedule.missed !== 'skip' || nowMs - atMs <= LATE_MS
  return { fire: missed.reverse().filter(isInTime), nextAtMs: nextInstant(schedule, nowMs) }
}

/** Errors: those of croner. */
function patternOf({ cron, zone = 'UTC' }: Pick<Schedule, 'cron' | 'zone'>): Cron {
  // croner also takes one date, after which no next instant would ever be found.
  if (!/^\s*(\S+\s+){4,5}\S+\s*$/.test(cron))
    throw new RangeError(`Expected five or six fields, not "${cron}".`)
  // croner would take the machine's own zone, and two workers could fire at different instants.
  if (zone === '') throw new RangeError('Expected a zone, not an empty name.')
  return new Cron(cron, { timezone: zone, mode: '5-or-6-parts', fixedTimeRule: 'no-wildcard' })
}

/** The operation id of one firing: a second one of the same instant is a repeat. Pure. */
export function firingId(name: string, atMs: number): string {
  return `schedule:${name}:${atMs}`
}
