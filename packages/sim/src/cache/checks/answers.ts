import type { Life } from '../../world/machine.ts'
import type { NamedChecker } from './checker.ts'

/**
 * What the clocks of one host may hide from it: two suspensions, each below what it can tell from a slow correction
 * (50 ms), and its drift.
 */
const HIDDEN_MS = 105

/** C4: nobody is served what is older than the stated bound, and what an answer says of its age is so. */
export const ages: NamedChecker = {
  name: 'C4 bounded staleness',
  make({ plan: { rules, lagMs, faults }, origin, nowMs, broken }) {
    const lagMostMs = lagMs + Math.max(0, ...faults.map((one) => (one.do === 'lag' ? one.byMs : 0)))
    return {
      see(happening) {
        if (happening.what !== 'ended' || !happening.answer) return
        const { body, ageMs, result } = happening.answer
        const reader = `a reader of ${body.key} on ${happening.read.life.name}`
        const trueMs = nowMs() - body.askedAtMs
        if (ageMs > rules.maxAgeMs || trueMs > rules.maxAgeMs + HIDDEN_MS)
          broken(`${reader} was served (${result}) what is ${trueMs} ms old, of ${rules.maxAgeMs}`)
        if (ageMs < trueMs - HIDDEN_MS) broken(`${reader} was told ${ageMs} ms of what is ${trueMs} ms old`)
        const then = origin.versionAt(body.key, body.askedAtMs - lagMostMs)
        if (body.version < then)
          broken(`${reader} was served version ${body.version}; ${ageMs} ms ago it was ${then}`)
      },
    }
  },
}

/** C5: a reader who knows a version gets that or a later one, or a refusal. */
export const watermarks: NamedChecker = {
  name: 'C5 read your writes',
  make({ broken }) {
    return {
      see(happening) {
        if (happening.what !== 'ended' || !happening.answer) return
        const { read, answer } = happening
        if (answer.body.version < read.minVersion)
          broken(
            `who had saved version ${read.minVersion} of ${read.key} was served ${answer.body.version} ` +
              `(${answer.result}) on ${read.life.name}`,
          )
      },
    }
  },
}

/**
 * C5, for everybody on the instance that was told: a copy that is outdated is not taken for a good one, and what is
 * forgotten is not served at all.
 */
export const invalidations: NamedChecker = {
  name: 'C5 an invalidation wins',
  make({ nowMs, broken }) {
    const told = new Map<Life, Map<string, { atMs: number; version: number; isForgotten: boolean }[]>>()
    return {
      see(happening) {
        if (happening.what === 'died') told.delete(happening.life)
        if (happening.what === 'told') {
          const { life, key, version, isForgotten } = happening
          const ofLife = told.get(life) ?? new Map()
          told.set(life, ofLife)
          ofLife.set(key, [...(ofLife.get(key) ?? []), { atMs: nowMs(), version, isForgotten }])
        }
        if (happening.what !== 'ended' || !happening.answer) return
        const { read, answer } = happening
        for (const { atMs, version, isForgotten } of told.get(read.life)?.get(read.key) ?? []) {
          if (atMs >= read.beganMs) continue
          const { body, result } = answer
          if (isForgotten && body.askedAtMs < atMs)
            broken(`${read.life.name} served ${read.key} of ${body.askedAtMs} ms, forgotten at ${atMs} ms`)
          if (!isForgotten && result === 'hit' && body.version < version)
            broken(
              `${read.life.name} served version ${body.version} of ${read.key} as good, after ${version}`,
            )
        }
      },
    }
  },
}
