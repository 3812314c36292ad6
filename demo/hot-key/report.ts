import { busiestSecond } from '../fleet/origin-log.ts'
import { PATIENCE_MS } from '../fleet/place.ts'
import type { Figure, Verdict } from '../verdict.ts'
import type { Options } from './options.ts'
import type { Round } from './round.ts'

const COLUMNS = ['hit', 'coalesced', 'origin', 'stale', 'rejected', 'lost'] as const

export const HEAD = `round  shared cache  readers${COLUMNS.map((name) => name.padStart(10)).join('')}  database  slowest ms`

export function lineOf({ hasShared, offered, ends, originReads, longestMs }: Round, n: number): string {
  const counts = COLUMNS.map((name) => String(ends[name]).padStart(10)).join('')
  return `${String(n).padStart(5)}  ${(hasShared ? 'up' : 'gone').padStart(12)}${String(offered).padStart(9)}${counts}${String(originReads.length).padStart(10)}${longestMs.toFixed(0).padStart(12)}`
}

export function verdictsOf(rounds: readonly Round[], { instances, budget }: Options): Verdict[] {
  const shared = rounds.filter((one) => one.hasShared)
  const alone = rounds.filter((one) => !one.hasShared)
  const busiest = busiestSecond(rounds.flatMap(({ originReads }) => originReads)).count
  const offered = sum(rounds, (one) => one.offered)
  const served = sum(
    rounds,
    ({ ends: { hit, coalesced, origin, stale } }) => hit + coalesced + origin + stale,
  )
  const rejected = sum(rounds, ({ ends }) => ends.rejected)
  const verdicts = [
    {
      claim: `without the shared cache, a list that has expired everywhere is read at most once by each of ${instances} servers`,
      found: `${reads(alone)} reads of the database`,
      isKept: alone.every(({ originReads: { length } }) => length >= 1 && length <= instances),
    },
    {
      claim: `never more than ${budget} reads of the database in any one second`,
      found: `${busiest} in the busiest`,
      isKept: busiest <= budget,
    },
    {
      claim: 'every reader is answered or refused, once',
      found: `${offered} offered = ${served} completed + ${rejected} rejected`,
      isKept: offered === served + rejected && served > 0,
    },
  ]
  return shared.length === 0 ? verdicts : [readOnce(shared), ...verdicts]
}

/**
 * A server that does not hear from the shared cache within 75 ms, as on a machine with too much to do, goes on as if there
 * were none: each such time may cost one read more, and no more than that.
 */
function readOnce(rounds: readonly Round[]): Verdict {
  const unheard = sum(rounds, (one) => one.unheard)
  const but = unheard === 0 ? '' : `; ${unheard} times a server did not hear from it within 75 ms`
  return {
    claim: 'with the shared cache it is read once for all',
    found: `${reads(rounds)} reads of the database${but}`,
    isKept: rounds.every(({ originReads: { length }, unheard }) => length >= 1 && length <= 1 + unheard),
  }
}

/** So much later than its patience a reader may hear from a busy process. */
const LATE_MS = 50

export function figuresOf(rounds: readonly Round[]): Figure[] {
  const rejected = sum(rounds, ({ ends }) => ends.rejected)
  const longestMs = Math.max(...rounds.map((one) => one.longestMs))
  return [
    { what: 'readers who were refused', found: String(rejected), target: 'none', isMet: rejected === 0 },
    {
      what: `the longest that any reader waited, with a patience of ${PATIENCE_MS} ms`,
      found: `${longestMs.toFixed(0)} ms`,
      target: `below ${PATIENCE_MS + LATE_MS} ms`,
      isMet: longestMs < PATIENCE_MS + LATE_MS,
    },
  ]
}

function reads(rounds: readonly Round[]): string {
  return rounds.map(({ originReads }) => originReads.length).join(', ')
}

function sum(rounds: readonly Round[], of: (round: Round) => number): number {
  return rounds.reduce((total, one) => total + of(one), 0)
}
