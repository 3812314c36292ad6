import type { AllowanceUse } from '@garner/jobs'
import type { NamedChecker } from './checker.ts'

/** One use, counted for one call. */
interface Use {
  tenant: string
  of: AllowanceUse
  /** In which it was counted, and stays. */
  period: string
  epoch: number
  state: 'reserved' | 'settled' | 'unknown' | 'refunded'
}

/**
 * J7, the allowance: no tenant has more uses in a period than its limit; each use is counted once, in the period in
 * which it was opened and where it belongs: settled, unknown once its attempt is gone and left no id, or reserved; only
 * a refund takes one off.
 */
export const allowances: NamedChecker = {
  name: 'J7 allowance',
  make({ broken }) {
    /** By job and step, oldest first. */
    const steps = new Map<string, Use[]>()
    const standing = ({ tenant, of, period }: Pick<Use, 'tenant' | 'of' | 'period'>): Use[] =>
      [...steps.values()].flat().filter((use) => {
        const isHere = use.tenant === tenant && use.of.allowance === of.allowance && use.period === period
        return isHere && use.state !== 'refunded'
      })
    return {
      see(one, { storeMs }) {
        if (one.what === 'opened' && one.standing.state !== 'lost') {
          const { claim, opening } = one
          const key = `${claim.job.id} ${opening.name}`
          const uses = steps.get(key) ?? []
          const last = uses.at(-1)
          if (
            last?.state === 'reserved' &&
            last.epoch !== claim.epoch &&
            one.standing.state !== 'submitted'
          ) {
            last.state = 'unknown'
          }
          const isRepeat = last?.epoch === claim.epoch && last.state === 'reserved'
          if (one.standing.state !== 'open' || !opening.use || isRepeat) return
          const { tenant } = claim.job
          const period = periodAt(storeMs, opening.use.per)
          const use: Use = { tenant, of: opening.use, period, epoch: claim.epoch, state: 'reserved' }
          steps.set(key, [...uses, use])
          const count = standing(use).length
          const { allowance, limit } = opening.use
          if (count > limit) broken(`${tenant} has ${count} uses of ${limit} ${allowance} in ${period}`)
        }
        if (one.what === 'recorded' && one.answer === 'stored') {
          const last = steps.get(`${one.claim.job.id} ${one.step}`)?.at(-1)
          if (!last || last.state === 'settled' || last.state === 'refunded') return
          if (one.change.state !== 'submitted') last.state = one.change.state
        }
      },
      async end({ allowance, storeMs }) {
        for (const { tenant, of } of [...steps.values()].flat()) {
          const uses = standing({ tenant, of, period: periodAt(storeMs, of.per) })
          const count = (state: Use['state']) => uses.filter((one) => one.state === state).length
          const expected = `${count('settled')} used, ${count('reserved')} reserved, ${count('unknown')} unknown`
          const shown = await allowance({ ...of, tenant })
          const found = `${shown.used} used, ${shown.reserved} reserved, ${shown.unknown} unknown`
          if (found !== expected)
            broken(`${of.allowance} of ${tenant} shows ${found}; there were ${expected}`)
        }
      },
    }
  },
}

function periodAt(atMs: number, per: AllowanceUse['per']): string {
  return new Date(atMs).toISOString().slice(0, { hour: 13, day: 10, month: 7 }[per])
}
