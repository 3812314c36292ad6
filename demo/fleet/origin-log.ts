import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** When the database was asked for lists, by all instances that ever ran: ms of the machine's monotonic clock, in order. */
export function originReads(folder: string): number[] {
  return readdirSync(folder)
    .flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n'))
    .filter((line) => line !== '')
    .map((line) => Number(BigInt(line) / 1_000n) / 1_000)
    .sort((a, b) => a - b)
}

/** The most reads in any window of one second, wherever it begins, and where that one begins. */
export function busiestSecond(reads: readonly number[]): { count: number; fromMs: number } {
  let busiest = { count: 0, fromMs: 0 }
  let first = 0
  for (const [last, atMs] of reads.entries()) {
    while (atMs - reads[first]! >= 1_000) first++
    if (last - first + 1 > busiest.count) busiest = { count: last - first + 1, fromMs: reads[first]! }
  }
  return busiest
}

/** The same clock as the instances' own. */
export function nowMs(): number {
  return Number(process.hrtime.bigint() / 1_000n) / 1_000
}
