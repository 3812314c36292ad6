import type { Options } from './options.ts'
import { busiestSecond } from './origin-log.ts'
import type { Ends, Second } from './readers.ts'
import type { Savers } from './savers.ts'
import type { Scene } from './scenes.ts'

/** All that a run came to. Instants are ms of the machine's monotonic clock. */
export interface Run {
  options: Options
  startedMs: number
  scenes: Scene[]
  seconds: { atS: number; second: Second }[]
  originReads: number[]
  offered: number
  inFlight: number
  ends: Ends
  refusedMs: number[]
  saves: Savers['counts']
  /** What the instances that live say of themselves: offered, and all that became of it. */
  own: { offered: number; ended: number }
}

const COLUMNS = ['offered', 'hit', 'coalesced', 'origin', 'stale', 'rejected', 'lost'] as const

export const HEAD = ` second  ${COLUMNS.map((name) => name.padStart(9)).join('')}   database   p99 ms  scene`

export function lineOf({ atS, second, originReads, scene }: SecondLine): string {
  const counts = COLUMNS.map((name) => String(second[name]).padStart(9)).join('')
  return `${String(atS).padStart(7)}  ${counts}${String(originReads).padStart(11)}${p99(second.latenciesMs).padStart(9)}  ${scene}`
}

interface SecondLine {
  atS: number
  second: Second
  originReads: number
  scene: string
}

export interface Verdict {
  claim: string
  found: string
  isKept: boolean
}

/** What was promised, what was found. Times are measured and not judged: they are the machine's as much as Garner's. */
export function verdictsOf(run: Run): Verdict[] {
  const { options, originReads, ends, offered, inFlight, saves, own, startedMs, scenes } = run
  const busiest = busiestSecond(originReads)
  const completed = ends.hit + ends.coalesced + ends.origin + ends.stale
  const unrenewed = scenes.find(({ name }) => name === 'budget not renewed')!
  // No share lasts longer than three seconds from when it was last renewed.
  const dark = originReads.filter(
    (ms) => ms > startedMs + unrenewed.fromS * 1_000 + 3_200 && ms < startedMs + unrenewed.toS * 1_000,
  )
  return [
    {
      claim: `never more than ${options.budget} reads of the database in any one second, over all instances`,
      found: `${busiest.count} in the busiest, from ${((busiest.fromMs - startedMs) / 1_000).toFixed(1)} s on`,
      isKept: busiest.count <= options.budget && originReads.length > 0,
    },
    {
      claim: 'every read is answered or refused, once',
      found: `${offered} offered = ${completed} completed + ${ends.rejected} rejected + ${ends.lost} lost with a killed or paused instance`,
      isKept: offered === completed + ends.rejected + ends.lost && inFlight === 0,
    },
    {
      claim: 'the instances count the same',
      found: `${own.offered} offered, ${own.ended} ended`,
      isKept: own.offered === own.ended,
    },
    {
      claim: 'without a share nothing is read, rather than everything',
      found: `${dark.length} reads of the database once the last share had ended`,
      isKept: dark.length === 0,
    },
    {
      claim: 'who has saved sees it at once on another instance, or is refused',
      found: `${saves.seen} saw it, ${saves.refused} were refused, ${saves.missed} did not see it (${saves.notSaved} saves refused, ${saves.unanswered} unanswered)`,
      isKept: saves.missed === 0 && saves.seen > 0,
    },
  ]
}

/** Per scene. */
export function tableOf({ scenes, seconds, originReads, startedMs }: Run): string[] {
  const rows = scenes.map(({ name, fromS, toS }) => {
    const within = seconds.filter(({ atS }) => atS > fromS && atS <= Math.max(toS, fromS + 1))
    const sum = (column: (typeof COLUMNS)[number]) =>
      within.reduce((total, { second }) => total + second[column], 0)
    const reads = originReads.filter((ms) => ms >= startedMs + fromS * 1_000 && ms < startedMs + toS * 1_000)
    const latencies = within.flatMap(({ second }) => second.latenciesMs).sort((a, b) => a - b)
    return `${name.padEnd(26)}${COLUMNS.map((column) => String(sum(column)).padStart(9)).join('')}${String(busiestSecond(reads).count).padStart(16)}${p99(latencies).padStart(9)}`
  })
  const head = `${'scene'.padEnd(26)}${COLUMNS.map((name) => name.padStart(9)).join('')}   busiest second   p99 ms`
  return [head, ...rows]
}

/** Of sorted values. */
export function p99(sorted: readonly number[]): string {
  const value = sorted[Math.floor(sorted.length * 0.99)]
  return value === undefined ? '-' : value.toFixed(0)
}
