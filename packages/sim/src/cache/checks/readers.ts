import type { Life } from '../../world/machine.ts'
import type { NamedChecker } from './checker.ts'
import type { Read } from './happening.ts'

/** A timer's millisecond, one for each of those that wait for another, and the drift. */
const SLACK_MS = 5

/** C4: every reader has an answer or a refusal within their patience, while their process is not standing still. */
export const patience: NamedChecker = {
  name: 'C4 nobody waits longer',
  make({ plan: { rules }, broken }) {
    const open = new Map<Life, Set<Read>>()
    const judge = ({ life, key, beganActiveMs }: Read, state: string) => {
      const waitedMs = life.activeMs - beganActiveMs
      if (waitedMs > rules.waitMs + SLACK_MS)
        broken(`a reader of ${key} on ${life.name} ${state} ${waitedMs} ms, of ${rules.waitMs}`)
    }
    return {
      see(happening) {
        if (happening.what === 'began') {
          const { read } = happening
          const ofLife = open.get(read.life) ?? new Set()
          open.set(read.life, ofLife.add(read))
        }
        if (happening.what === 'ended') {
          open.get(happening.read.life)?.delete(happening.read)
          judge(happening.read, 'waited for')
        }
        if (happening.what === 'died') open.delete(happening.life)
      },
      step() {
        for (const reads of open.values()) {
          // They came in order, with the same patience.
          for (const first of reads) {
            judge(first, 'has no answer after')
            break
          }
        }
      },
      end() {
        for (const [life, reads] of open)
          if (reads.size > 0) broken(`${reads.size} readers of ${life.name} are left`)
      },
    }
  },
}

const RESULTS = ['hit', 'coalesced', 'origin', 'stale', 'rejected'] as const

/** What a life says of its readers is what has become of them: at every step, and one by one whenever none waits. */
export const sums: NamedChecker = {
  name: 'C4 counted once',
  make({ broken }) {
    const tallies = new Map<
      Life,
      { began: number; open: number; abandoned: number } & Record<string, number>
    >()
    const tallyOf = (life: Life) => {
      const known = tallies.get(life)
      if (known) return known
      const fresh = {
        began: 0,
        open: 0,
        abandoned: 0,
        hit: 0,
        coalesced: 0,
        origin: 0,
        stale: 0,
        rejected: 0,
      }
      tallies.set(life, fresh)
      return fresh
    }
    return {
      see(happening) {
        if (happening.what === 'began') {
          const tally = tallyOf(happening.read.life)
          tally.began++
          tally.open++
        }
        if (happening.what !== 'ended') return
        const tally = tallyOf(happening.read.life)
        tally.open--
        if (happening.isAway) tally.abandoned++
        tally[happening.answer?.result ?? 'rejected']!++
      },
      look(life, counters) {
        const { offered, hit, coalesced, origin, stale, rejected, inFlight } = counters
        const sum = hit + coalesced + origin + stale + rejected + inFlight
        if (offered !== sum) broken(`${life.name}: ${offered} offered, and ${sum} accounted for`)
        const { refused, late, failed, abandoned } = counters
        if (rejected !== refused + late + failed + abandoned)
          broken(`${life.name}: ${rejected} rejected, and ${refused + late + failed + abandoned} reasons`)
        const tally = tallyOf(life)
        if (tally.open > 0) return
        if (offered !== tally.began || inFlight !== 0)
          broken(
            `${life.name} says ${offered} offered, ${inFlight} under way; ${tally.began} came, all have gone`,
          )
        for (const result of RESULTS)
          if (counters[result] !== tally[result])
            broken(`${life.name} counts ${counters[result]} as ${result}, and there were ${tally[result]}`)
        if (abandoned !== tally.abandoned)
          broken(`${life.name} counts ${abandoned} that went away; ${tally.abandoned} did`)
      },
    }
  },
}
