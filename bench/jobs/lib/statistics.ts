import { median } from '../../lib/measure.ts'

/** A figure of several rounds: what is said of it, and how far the rounds were apart. */
export interface Figure {
  median: number
  low: number
  high: number
}

/** Errors: RangeError when there is nothing to sum up. */
export function figureOf(values: readonly number[]): Figure {
  if (values.length === 0) throw new RangeError('A figure needs at least one round.')
  return { median: median([...values]), low: Math.min(...values), high: Math.max(...values) }
}

/**
 * `above` ÷ `below`, round by round, for two that took turns in one case: a slow minute of the machine is then in
 * both. With unequal numbers of rounds nothing can be paired: see `apartRatio`.
 */
export function pairedRatio(above: readonly number[], below: readonly number[]): Figure {
  if (above.length !== below.length) return apartRatio(above, below)
  return figureOf(above.map((value, i) => value / below[i]!))
}

/**
 * `above` ÷ `below` for two that were measured one after the other: the ratio of the medians, and as its spread the
 * worst and the best that the rounds allow.
 */
export function apartRatio(above: readonly number[], below: readonly number[]): Figure {
  const [over, under] = [figureOf(above), figureOf(below)]
  return { median: over.median / under.median, low: over.low / under.high, high: over.high / under.low }
}

/** The value below which `share` (0..1) of the values lie, by the nearest rank. NaN of nothing. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN
}
