import type { Life } from '../../world/machine.ts'
import type { NamedChecker } from './checker.ts'
import type { OriginRead } from './happening.ts'

const SECOND_MS = 1_000

/**
 * C3, at the origin: in any second it meets at most `rate` reads of all instances together, and has at most
 * `concurrency` of them under way. Reads that had begun when their process was stopped, and are sent when it goes on,
 * are the stated exception: of one stop, as many as `concurrency`.
 */
export const budget: NamedChecker = {
  name: 'C3 fleet budget',
  make({ plan: { capacity }, nowMs, broken }) {
    let met: number[] = []
    const under = new Set<OriginRead>()
    const late = new Map<Life, number>()
    return {
      see(happening) {
        if (happening.what === 'stalled') late.delete(happening.life)
        if (happening.what === 'left') under.delete(happening.load)
        if (happening.what !== 'met') return
        const { load } = happening
        if (load.isSentLate) {
          late.set(load.life, (late.get(load.life) ?? 0) + 1)
          if (late.get(load.life)! > capacity.concurrency)
            broken(`${load.life.name} sent ${late.get(load.life)} reads late after one stop`)
          return
        }
        met = met.filter((atMs) => atMs > nowMs() - SECOND_MS)
        met.push(nowMs())
        under.add(load)
        if (met.length > capacity.rate)
          broken(`the origin met ${met.length} reads in a second, of ${capacity.rate}`)
        if (under.size > capacity.concurrency)
          broken(`the origin had ${under.size} reads at once, of ${capacity.concurrency}`)
      },
    }
  },
}

/** C3, at the ledger: whatever calls race, fail or are late, it never counts on more than there is. */
export const lending: NamedChecker = {
  name: 'C3 never lent twice',
  make({ plan: { capacity }, broken }) {
    return {
      see(happening) {
        if (happening.what !== 'lent') return
        const { rate, concurrency } = happening.reserved
        if (rate > capacity.rate) broken(`${rate} reads a second are lent, of ${capacity.rate}`)
        if (concurrency > capacity.concurrency)
          broken(`${concurrency} at once are lent, of ${capacity.concurrency}`)
      },
    }
  },
}

interface Heard {
  sentMs: number
  ttlMs: number
  rate: number
  heardMs: number
}

/**
 * C3, at one holder: a read begins only within a share that has been lent to this life and has not run out, counted
 * from when it was asked for; and in any second no more begin than the largest share allows that was held in it.
 */
export const shares: NamedChecker = {
  name: 'C3 a share and its end',
  make({ nowMs, broken }) {
    const heard = new Map<Life, Heard[]>()
    const begun = new Map<Life, number[]>()
    return {
      see(happening) {
        if (happening.what === 'heard') {
          const { life, lease, sentMs } = happening
          const { ttlMs, rate } = lease
          heard.set(life, [...(heard.get(life) ?? []), { sentMs, ttlMs, rate, heardMs: nowMs() }].slice(-12))
        }
        if (happening.what !== 'loading') return
        const { life } = happening.load
        const all = heard.get(life) ?? []
        const sinceMs = nowMs() - SECOND_MS
        const held = all.filter(({ sentMs, ttlMs }) => nowMs() < sentMs + ttlMs)
        if (held.length === 0) return broken(`${life.name} asks the origin, and holds no share`)
        const recent = [...(begun.get(life) ?? []).filter((atMs) => atMs > sinceMs), nowMs()]
        begun.set(life, recent)
        const largest = Math.max(
          ...all.filter(({ sentMs, ttlMs }) => sinceMs < sentMs + ttlMs).map(({ rate }) => rate),
        )
        if (recent.length > largest)
          broken(`${life.name} began ${recent.length} reads in a second, of a share of ${largest}`)
      },
    }
  },
}
