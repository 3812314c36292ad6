import { type Job, PENDING_STATES } from '@garner/jobs'
import type { NamedChecker } from './checker.ts'

/**
 * J8, the bound: nothing is accepted, fired or repaired on request beyond the pending jobs that a tenant, or all of
 * them, may have; nothing is refused while there is room. Operators' repairs are beyond the bound.
 */
export const bounds: NamedChecker = {
  name: 'J8 bounded queue',
  make({ plan, broken }) {
    const { perTenant, total } = plan.bounds
    const pending = new Map<string, string>()
    const ended = new Set<string>()
    const ofTenant = (tenant: string) => [...pending.values()].filter((one) => one === tenant).length
    const add = ({ id, tenant }: Job, how: string) => {
      pending.set(id, tenant)
      ended.delete(id)
      if (ofTenant(tenant) > perTenant)
        broken(`${id} was ${how}, as the ${ofTenant(tenant)}th of ${perTenant} of ${tenant}`)
      if (pending.size > total) broken(`${id} was ${how}, as the ${pending.size}th of ${total}`)
    }
    return {
      see(one) {
        switch (one.what) {
          case 'submitted':
            if (!one.isRepeat) add(one.job, 'accepted')
            return
          case 'fired':
            add(one.job, 'fired')
            return
          case 'repaired':
            if (one.isBounded && one.job?.state === 'ready' && ended.has(one.id)) add(one.job, 'repaired')
            return
          case 'full': {
            const [first] = one.submissions
            const more = one.submissions.length
            const hasRoom = ofTenant(first!.tenant) + more <= perTenant && pending.size + more <= total
            const isOneTenant = one.submissions.every(({ tenant }) => tenant === first!.tenant)
            if (hasRoom && isOneTenant)
              broken(`${first!.id} was refused (${one.scope}) though there was room`)
            return
          }
          case 'seen':
            if (one.job && PENDING_STATES.includes(one.job.state)) pending.set(one.id, one.job.tenant)
            else pending.delete(one.id)
            if (one.job && !PENDING_STATES.includes(one.job.state)) ended.add(one.id)
        }
      },
    }
  },
}
