import type { Worked } from '../lib/messages.ts'
import { MARK_EACH } from '../lib/tally.ts'

/** A worker that lives for days has compiled code and open connections: the first 5,000 jobs, or a quarter, warm it up. */
export function warmOf(jobs: number): number {
  return Math.min(5_000, Math.floor(jobs / 4))
}

/** When `count` jobs had been started, over all workers, and how many exactly; the very first start for 0. */
export function startedBy(worked: readonly Worked[], count: number): { atMs: number; count: number } {
  const firsts = worked.map(({ firstMs }) => firstMs).filter((ms) => ms > 0)
  const marks = worked.flatMap(({ marksMs }) => marksMs).sort((a, b) => a - b)
  const place = Math.floor(count / MARK_EACH)
  const mark = marks[place - 1]
  return mark === undefined
    ? { atMs: Math.min(...firsts), count: 0 }
    : { atMs: mark, count: place * MARK_EACH }
}

/** Starts a second, over all workers, from when `warm` had been made to the last one. */
export function startRate(worked: readonly Worked[], warm: number): number {
  const { atMs, count } = startedBy(worked, warm)
  const started = worked.reduce((total, one) => total + one.count, 0)
  const lastMs = Math.max(...worked.map((one) => one.lastMs))
  return (started - Math.max(1, count)) / ((lastMs - atMs) / 1000)
}
