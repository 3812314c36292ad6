import { RANK_UNIT } from '@garner/jobs'
import type { NamedChecker, View } from './checker.ts'

/** Two tenants that both have jobs waiting, since the last time that one of them had none. */
interface Race {
  /** What the first was served less what the second was, in units of their weights; and its extremes so far. */
  lead: number
  most: number
  least: number
}

/**
 * J8, the fairness. While two tenants both have jobs waiting, what they are served differs by one job of each at most,
 * counted by their weights; so a single job waits for no more of another's than the weights say, and one. Source:
 * self-clocked fair queueing (Golestani, 1994), whose bound this is. Judged where nothing but rank decides: plans
 * without priorities, keys, limits, pauses or jobs for later, where all workers do all kinds; and by first tries, since
 * what was put off comes back at a rank of its own.
 */
export const fairness: NamedChecker = {
  name: 'J8 fair to tenants',
  make({ plan, broken }) {
    let isJudged = isPlain(plan)
    const costs = new Map<string, number>()
    const waiting = new Map<string, Set<string>>()
    const races = new Map<string, Race>()
    const cost = (tenant: string) => costs.get(tenant) ?? RANK_UNIT

    const served = (tenant: string, id: string) => {
      for (const [other, jobs] of waiting) {
        if (other === tenant || jobs.size === 0) continue
        const [first, second] = [tenant, other].sort() as [string, string]
        const race = races.get(`${first} ${second}`) ?? { lead: 0, most: 0, least: 0 }
        races.set(`${first} ${second}`, race)
        race.lead += tenant === first ? cost(tenant) : -cost(tenant)
        race.most = Math.max(race.most, race.lead)
        race.least = Math.min(race.least, race.lead)
        const bound = cost(first) + cost(second)
        if (race.most - race.least > bound) {
          const [from, to] = [race.least, race.most]
          broken(
            `with ${id} the lead of ${first} over ${second} has gone from ${from} to ${to}, ${bound} apart at most`,
          )
        }
      }
    }
    const endRaces = (tenant: string) => {
      for (const pair of races.keys()) if (pair.split(' ').includes(tenant)) races.delete(pair)
    }

    return {
      see(one) {
        if (!isJudged) return
        if (one.what === 'weighed') {
          // The ranks of jobs that wait already are those of the weight before.
          isJudged = [...waiting.values()].every((jobs) => jobs.size === 0)
          costs.set(one.tenant, Math.round(RANK_UNIT / one.weight))
        }
        if (one.what === 'submitted' && !one.isRepeat) {
          const { id, tenant } = one.job
          waiting.set(tenant, (waiting.get(tenant) ?? new Set()).add(id))
        }
        if (one.what === 'claimed') {
          for (const { job } of one.claims) {
            const jobs = waiting.get(job.tenant)
            if (!jobs?.has(job.id)) continue
            served(job.tenant, job.id)
            jobs.delete(job.id)
            if (jobs.size === 0) endRaces(job.tenant)
          }
        }
      },
    }
  },
}

/** Whether rank alone decides in this plan. */
function isPlain({ kinds, commands }: View['plan']): boolean {
  const isLimited = kinds.some(
    ({ perKey, concurrency, spacingMs }) => perKey ?? concurrency ?? spacingMs ?? false,
  )
  if (isLimited) return false
  return commands.every((one) => {
    if (one.do === 'submit') return one.jobs.every(({ priority, inMs }) => !priority && !inMs)
    // Jobs that leave before their turn, or come anew, take a rank with them.
    return ['weigh', 'allow', 'revoke', 'stop', 'prune'].includes(one.do)
  })
}
