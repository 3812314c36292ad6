import type { Ends } from '../fleet/ends.ts'
import { busiestSecond } from '../fleet/origin-log.ts'
import { PATIENCE_MS } from '../fleet/place.ts'
import { changesOf, type Weight } from '../fleet/weight.ts'
import type { Figure, Verdict } from '../verdict.ts'
import type { Options } from './options.ts'
import type { Tally } from './readers.ts'
import type { Savers } from './savers.ts'
import { NOT_RENEWED, type Scene, WITHOUT_SHARED } from './scenes.ts'

/** One scene, and what became of the reads that came in it. */
export interface SceneRun extends Scene {
  tally: Tally
}

/** All that a run came to. Instants are ms of the machine's monotonic clock. */
export interface Run {
  options: Options
  startedMs: number
  scenes: SceneRun[]
  /** Before the scene without a shared cache, and after it. */
  weights: Weight[][]
  originReads: number[]
  /** Reads that had not ended when everything was over. */
  inFlight: number
  saves: Savers['counts']
  /**
   * What the instances that live say of themselves: offered, all that became of it, and what is under way: a read that
   * the balancer has given up goes on.
   */
  own: { offered: number; ended: number; inFlight: number }
}

const COLUMNS = ['offered', 'hit', 'coalesced', 'origin', 'stale', 'rejected', 'lost'] as const

export const HEAD = ` second  ${COLUMNS.map((name) => name.padStart(9)).join('')}   database   p99 ms  scene`

export function lineOf({ atS, second, originReads, scene }: SecondLine): string {
  const counts = COLUMNS.map((name) => String(second[name]).padStart(9)).join('')
  return `${String(atS).padStart(7)}  ${counts}${String(originReads).padStart(11)}${ms(p99(second.waitedMs)).padStart(9)}  ${scene}`
}

interface SecondLine {
  atS: number
  second: Tally
  originReads: number
  scene: string
}

export function verdictsOf(run: Run): Verdict[] {
  const { options, originReads, inFlight, saves, own, startedMs, scenes } = run
  const busiest = busiestSecond(originReads)
  const whole = totalOf(scenes)
  const alone = sceneOf(run, WITHOUT_SHARED).tally
  const unrenewed = sceneOf(run, NOT_RENEWED)
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
      found: `${whole.offered} offered = ${completed(whole)} completed + ${whole.stale} stale + ${whole.rejected} rejected + ${whole.lost} lost with a killed or paused instance`,
      isKept: whole.offered === sumOf(whole) && inFlight === 0,
    },
    {
      claim: 'without the shared cache none is lost either',
      found: `${alone.offered} offered = ${completed(alone)} completed + ${alone.stale} stale + ${alone.rejected} rejected`,
      isKept: alone.offered === completed(alone) + alone.stale + alone.rejected && alone.offered > 0,
    },
    {
      claim: 'the instances count the same',
      found: `${own.offered} offered = ${own.ended} ended + ${own.inFlight} under way`,
      isKept: own.offered === own.ended + own.inFlight,
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

/** So much later than it was decided a refusal may come out of a busy process. */
const LATE_MS = 50
/** Somewhat more than the copies of lists that are made during the scene; 1 KB kept of each read would be as much. */
const GROWN_MB = 6

export function figuresOf(run: Run): Figure[] {
  return [
    ...waits('without the shared cache', sceneOf(run, WITHOUT_SHARED).tally),
    ...waits('in the whole run', totalOf(run.scenes)),
    ...memory(run),
  ]
}

function waits(where: string, { refusedMs, waitedMs }: Tally): Figure[] {
  const [late, latest] = [p99(refusedMs), max(refusedMs)].map((value) => beyond(value))
  const longest = max(waitedMs)
  return [
    {
      what: `${where}, ${refusedMs.length} refusals beyond the readers’ patience of ${PATIENCE_MS} ms`,
      found: `p99 ${ms(late)} ms, at most ${ms(latest)} ms`,
      target: `p99 below ${LATE_MS} ms`,
      isMet: late === undefined || late < LATE_MS,
    },
    {
      what: `${where}, the longest that any reader waited`,
      found: `${ms(longest)} ms`,
      target: `below ${PATIENCE_MS + LATE_MS} ms`,
      isMet: longest === undefined || longest < PATIENCE_MS + LATE_MS,
    },
  ]
}

function memory({ weights }: Run): Figure[] {
  const kept = changesOf(weights, 'keptMb')
  const grown = max(kept.map(({ from, to }) => to - from))
  const resident = changesOf(weights, 'residentMb')
  return [
    {
      what: 'what each instance keeps in memory, before and after the time without the shared cache',
      found: grown === undefined ? 'not measured' : listed(kept),
      target: `none grows by more than ${GROWN_MB} MB`,
      isMet: grown === undefined ? null : grown <= GROWN_MB,
    },
    {
      what: 'the same as resident memory, with the garbage that is not collected yet',
      found: resident.length === 0 ? 'not measured: this system has no /proc' : listed(resident),
      target: 'none; the runtime collects when it sees fit',
      isMet: null,
    },
  ]
}

function listed(changes: { from: number; to: number }[]): string {
  return `${changes.map(({ from, to }) => `${from.toFixed(0)} → ${to.toFixed(0)}`).join(', ')} MB`
}

/** Per scene. */
export function tableOf({ scenes, originReads, startedMs }: Run): string[] {
  const rows = scenes.map(({ name, fromS, toS, tally }) => {
    const reads = originReads.filter((at) => at >= startedMs + fromS * 1_000 && at < startedMs + toS * 1_000)
    return `${name.padEnd(26)}${COLUMNS.map((column) => String(tally[column]).padStart(9)).join('')}${String(busiestSecond(reads).count).padStart(16)}${ms(p99(tally.waitedMs)).padStart(9)}`
  })
  const head = `${'scene'.padEnd(26)}${COLUMNS.map((name) => name.padStart(9)).join('')}   busiest second   p99 ms`
  return [head, ...rows]
}

function sceneOf({ scenes }: Run, name: string): SceneRun {
  const scene = scenes.find((one) => one.name === name)
  if (!scene) throw new Error(`There was no scene “${name}”.`)
  return scene
}

function totalOf(scenes: readonly SceneRun[]): Tally {
  const sum = (column: (typeof COLUMNS)[number]) =>
    scenes.reduce((total, { tally }) => total + tally[column], 0)
  const counts = Object.fromEntries(COLUMNS.map((column) => [column, sum(column)])) as Omit<
    Tally,
    'waitedMs' | 'refusedMs'
  >
  return {
    ...counts,
    waitedMs: scenes.flatMap(({ tally }) => tally.waitedMs),
    refusedMs: scenes.flatMap(({ tally }) => tally.refusedMs),
  }
}

function completed({ hit, coalesced, origin }: Ends): number {
  return hit + coalesced + origin
}

function sumOf({ stale, rejected, lost, ...rest }: Ends): number {
  return completed(rest as Ends) + stale + rejected + lost
}

function p99(values: readonly number[]): number | undefined {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length * 0.99)]
}

function max(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : values.reduce((most, one) => Math.max(most, one))
}

function beyond(value: number | undefined): number | undefined {
  return value === undefined ? undefined : Math.max(0, value - PATIENCE_MS)
}

function ms(value: number | undefined): string {
  return value === undefined ? '-' : value.toFixed(0)
}
