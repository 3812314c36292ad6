import type { Claim, StepChange } from '@garner/jobs'
import type { Mutant } from './mutant.ts'

const BILLED = ['J7 billed at most once', 'J7 allowance']

/** Paid parts, and the allowance that they are paid from. */
export const PAYMENT_MUTANTS: Mutant[] = [
  {
    name: 'a paid result is stored late',
    promises: BILLED,
    mutation: {
      store(honest) {
        const late = new Map<
          string,
          { claim: Pick<Claim, 'job' | 'epoch'>; step: string; change: StepChange }[]
        >()
        return {
          async recordStep(claim, step, change) {
            const isPaid = (await honest.steps(claim.job.id)).some((one) => one.name === step && one.uses > 0)
            if (change.state !== 'settled' || !isPaid) return honest.recordStep(claim, step, change)
            late.set(claim.job.id, [...(late.get(claim.job.id) ?? []), { claim, step, change }])
            return 'stored'
          },
          /** With the job's end: killed in between, nobody has the result, and it was paid for. */
          async publish(claim, ending, write) {
            for (const one of late.get(claim.job.id) ?? [])
              await honest.recordStep(one.claim, one.step, one.change)
            late.delete(claim.job.id)
            return honest.publish(claim, ending, write)
          },
        }
      },
    },
  },
  {
    name: 'a call is recorded after it was made',
    promises: BILLED,
    mutation: {
      store(honest) {
        const openings = new Map<string, () => Promise<unknown>>()
        return {
          async openStep(claim, opening) {
            const steps = await honest.steps(claim.job.id)
            if (!opening.use || steps.some(({ name }) => name === opening.name)) {
              return honest.openStep(claim, opening)
            }
            openings.set(`${claim.job.id} ${opening.name}`, () => honest.openStep(claim, opening))
            return { state: 'open' }
          },
          async recordStep(claim, step, change) {
            await openings.get(`${claim.job.id} ${step}`)?.()
            return honest.recordStep(claim, step, change)
          },
        }
      },
    },
  },
  {
    name: 'what may have been billed is paid again',
    promises: BILLED,
    mutation: {
      store: (honest) => ({
        openStep: (claim, opening) => honest.openStep(claim, { ...opening, evenIfUnknown: true }),
      }),
    },
  },
  {
    name: 'the provider’s id is not kept',
    promises: BILLED,
    mutation: {
      store: (honest) => ({
        recordStep: async (claim, step, change) =>
          change.state === 'submitted' ? 'stored' : honest.recordStep(claim, step, change),
      }),
    },
  },
  {
    name: 'the allowance is not looked at',
    promises: BILLED,
    mutation: {
      store: (honest) => ({
        openStep: (claim, { use, ...opening }) =>
          honest.openStep(claim, use ? { ...opening, use: { ...use, limit: 1_000_000 } } : opening),
      }),
    },
  },
  {
    name: 'a use whose call is lost stays reserved',
    promises: ['J7 allowance'],
    mutation: {
      store: (honest) => ({
        async allowance(of) {
          const { unknown, reserved, ...rest } = await honest.allowance(of)
          return { ...rest, reserved: reserved + unknown, unknown: 0 }
        },
      }),
    },
  },
  {
    name: 'a refund is not given',
    promises: BILLED,
    mutation: {
      store: (honest) => ({
        recordStep: async (claim, step, change) =>
          change.state === 'refunded' ? 'stored' : honest.recordStep(claim, step, change),
      }),
    },
  },
  {
    name: 'a free part is not stored',
    promises: BILLED,
    mutation: {
      store: (honest) => ({
        async recordStep(claim, step, change) {
          const isPaid = (await honest.steps(claim.job.id)).some((one) => one.name === step && one.uses > 0)
          return isPaid ? honest.recordStep(claim, step, change) : 'stored'
        },
      }),
    },
  },
]
