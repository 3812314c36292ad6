import type { Result } from '../lib/result.ts'
import { apartRatio, type Figure, figureOf, pairedRatio } from '../lib/statistics.ts'
import { isLessBetter, type Target } from './targets.ts'

/** A target held against what was measured. */
export interface Verdict {
  target: Target
  config: string
  /** Undefined: it was not measured. */
  measured: Result | undefined
  /** What it was divided by; undefined for a target in the measure's own unit, and where there was nothing. */
  yardstick: Result | undefined
  /** The ratio, or the figure itself for a target in its own unit. */
  figure: Figure | undefined
  isMet: boolean | undefined
}

/**
 * Looks at the latest session in which Garner's figure is, and takes the yardstick from the same one: a figure of
 * another session was taken on what may as well have been another machine.
 */
export function verdictOf(target: Target, config: string, results: readonly Result[]): Verdict {
  const { store, against } = target
  const measured = latest(
    results.filter((one) => one.peer === store && one.config === config && isOf(one, target)),
  )
  const nothing = { target, config, measured, yardstick: undefined, figure: undefined, isMet: undefined }
  if (!measured) return nothing
  if (against.kind === 'value') {
    const figure = figureOf(measured.values)
    return { ...nothing, figure, isMet: figure.median <= against.atMost }
  }
  const together = results.filter((one) => one.session === measured.session && one.values.length > 0)
  const yardstick = best(together.filter((one) => isYardstick(one, target, measured)))
  if (!yardstick) return nothing
  const inTurns = yardstick.case === measured.case && yardstick.peer !== measured.peer
  const figure = (inTurns ? pairedRatio : apartRatio)(measured.values, yardstick.values)
  const { atLeast = Number.NEGATIVE_INFINITY } = against
  const atMost = ('atMost' in against ? against.atMost : undefined) ?? Number.POSITIVE_INFINITY
  return {
    target,
    config,
    measured,
    yardstick,
    figure,
    isMet: figure.median >= atLeast && figure.median <= atMost,
  }
}

function isYardstick(one: Result, { against }: Target, measured: Result): boolean {
  if (against.kind === 'self') {
    const isSame = one.peer === measured.peer && one.config === measured.config
    return isSame && isOf(one, against)
  }
  if (one.case !== measured.case) return false
  if (against.kind === 'raw')
    return one.peer.startsWith('raw-') && databaseOf(one) === databaseOf(measured) && one.isSynced
  if (against.kind !== 'peer') return false
  if (one.peer.startsWith('raw-') || one.peer.startsWith('garner-') || one.measure !== measured.measure)
    return false
  if (databaseOf(one) !== databaseOf(measured) || (against.peer && one.peer !== against.peer)) return false
  return against.mayBeWeaker === true || one.isSynced
}

/** `sqlite` of `sqlite 3.54.1`. */
export function databaseOf({ backend }: Result): string {
  return backend.split(' ')[0] ?? ''
}

function isOf(one: Result, of: { case: string; measure: string }): boolean {
  return one.case === of.case && one.measure === of.measure && one.values.length > 0
}

function latest(results: Result[]): Result | undefined {
  return results.toSorted((a, b) => a.session.localeCompare(b.session)).at(-1)
}

function best(results: Result[]): Result | undefined {
  const sorted = results.toSorted((a, b) => figureOf(a.values).median - figureOf(b.values).median)
  return results.length > 0 && isLessBetter(results[0]!.unit) ? sorted[0] : sorted.at(-1)
}
