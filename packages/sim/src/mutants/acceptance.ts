import { MemoryTransaction } from '@garner/jobs/memory'
import type { Mutant } from './mutant.ts'

/** What is accepted, and in which order it is served. */
export const ACCEPTANCE_MUTANTS: Mutant[] = [
  {
    name: 'submit outside the transaction',
    promises: ['J1 durable acceptance'],
    mutation: {
      // A transaction of its own: nobody takes it back when the caller's fails.
      store: (honest) => ({
        submit: (_tx, submission) => honest.submit(new MemoryTransaction(), submission),
        submitMany: (_tx, submissions) => honest.submitMany(new MemoryTransaction(), submissions),
      }),
    },
  },
  {
    name: 'accepted before it is committed',
    promises: ['J1 durable acceptance'],
    mutation: {
      /** Every fifth commit is lost, and nobody is told. */
      store(honest) {
        let count = 0
        return {
          async accept(submissions) {
            if (++count % 5 !== 0) return honest.accept(submissions)
            let answers: Awaited<ReturnType<typeof honest.accept>> = []
            const isLost = new Error('lost')
            await honest
              .transaction(async (tx) => {
                answers = await honest.submitMany(tx, submissions)
                throw isLost
              })
              .catch((error) => {
                if (error !== isLost) throw error
              })
            return answers
          },
        }
      },
    },
  },
  {
    name: 'operation ids are not looked at',
    promises: ['J5 idempotent submission'],
    mutation: {
      store: (honest) => ({
        submit: (tx, { operationId: _, ...submission }) => honest.submit(tx, submission),
        submitMany: (tx, all) =>
          honest.submitMany(
            tx,
            all.map(({ operationId: _, ...one }) => one),
          ),
        accept: (all) => honest.accept(all.map(({ operationId: _, ...one }) => one)),
      }),
    },
  },
  {
    name: 'a repeat with another payload is the first',
    promises: ['J5 idempotent submission'],
    mutation: {
      store: (honest) => ({
        submit: async (tx, submission) => {
          const { payload, ...rest } = submission
          const { isOther: _, ...same } = payload as Record<string, never>
          return honest.submit(tx, { ...rest, payload: same })
        },
      }),
    },
  },
  {
    name: 'the bound is not looked at',
    promises: ['J8 bounded queue'],
    mutation: { bounds: { perTenant: 1_000_000, total: 1_000_000 } },
  },
  {
    name: 'the rank does not advance',
    promises: ['J8 fair to tenants'],
    mutation: {
      /** After its first, a tenant's jobs cost it next to nothing: as many as it likes stand at one rank. */
      store(honest) {
        const weights = new Map<string, number>()
        const seen = new Set<string>()
        return {
          setWeight(tx, tenant, weight) {
            weights.set(tenant, weight)
            return honest.setWeight(tx, tenant, weight)
          },
          async submitMany(tx, submissions) {
            const answers = []
            for (const one of submissions) {
              const { tenant } = one
              if (seen.has(tenant)) await honest.setWeight(tx, tenant, 100)
              seen.add(tenant)
              answers.push(await honest.submit(tx, one))
              await honest.setWeight(tx, tenant, weights.get(tenant) ?? 1)
            }
            return answers
          },
        }
      },
    },
  },
  {
    name: 'weights are not looked at',
    promises: ['J8 fair to tenants'],
    mutation: { store: () => ({ setWeight: async () => {} }) },
  },
  {
    name: 'the limits of a kind are not looked at',
    promises: ['limits of a kind'],
    mutation: {
      store: (honest) => ({
        claim: (request) => honest.claim({ ...request, kinds: request.kinds.map(({ kind }) => ({ kind })) }),
      }),
    },
  },
  {
    name: 'a pause is not looked at',
    promises: ['limits of a kind'],
    mutation: { store: () => ({ pause: async () => {} }) },
  },
  {
    name: 'nobody polls',
    promises: ['J2 a hint is only a hint'],
    mutation: {
      plan: (plan) => ({ ...plan, workers: plan.workers.map((one) => ({ ...one, pollMs: 1e9 })) }),
    },
  },
]
