import { MemoryTransaction } from '@garner/jobs/memory'
import type { Mutant } from './mutant.ts'

/** How a job ends, and what is written with it. */
export const ENDING_MUTANTS: Mutant[] = [
  {
    name: 'the handler writes outside the transaction',
    promises: ['J4 fenced, atomic publication'],
    mutation: {
      store: (honest) => ({
        publish: (claim, ending, write) =>
          honest.publish(claim, ending, write && (() => write(new MemoryTransaction()))),
      }),
    },
  },
  {
    name: 'the end is said before the handler writes',
    promises: ['J4 fenced, atomic publication'],
    mutation: {
      store: (honest) => ({
        async publish(claim, ending, write) {
          const answer = await honest.publish(claim, ending)
          if (answer === 'published' && write) await honest.transaction(write)
          return answer
        },
      }),
    },
  },
  {
    name: 'no try counts',
    promises: ['J6 one owner of retries'],
    mutation: {
      store: (honest) => ({
        publish: (claim, ending, write) =>
          honest.publish(
            claim,
            'outcome' in ending && ending.outcome === 'retried' ? { ...ending, isUncounted: true } : ending,
            write,
          ),
      }),
    },
  },
  {
    name: 'the deadline moves on with each try',
    promises: ['J6 one owner of retries'],
    mutation: {
      store: (honest) => ({
        async claim(request) {
          const claims = await honest.claim(request)
          return claims.map((claim) => {
            const deadlineAtMs = claim.job.deadlineAtMs + 3_600_000
            return claim.job.attempt > 1 ? { ...claim, job: { ...claim.job, deadlineAtMs } } : claim
          })
        },
      }),
    },
  },
  {
    name: 'a retry never comes due',
    promises: ['liveness', 'J2 a hint is only a hint'],
    mutation: {
      store: (honest) => ({
        publish: (claim, ending, write) => {
          const isRetry = 'outcome' in ending && ending.outcome === 'retried'
          return honest.publish(
            claim,
            isRetry ? { ...ending, runAtMs: ending.runAtMs + 1e10 } : ending,
            write,
          )
        },
      }),
    },
  },
  {
    name: 'a try that was cut off leaves no record',
    promises: ['attempt history'],
    mutation: {
      store: (honest) => ({
        async get(id) {
          const found = await honest.get(id)
          return (
            found && {
              ...found,
              attempts: found.attempts.filter(({ outcome }) => outcome !== 'lease_expired'),
            }
          )
        },
      }),
    },
  },
  {
    name: 'whether the account is allowed is remembered',
    promises: ['J9 revocation wins'],
    mutation: { remembersAccounts: true },
  },
  {
    name: 'a running job is not cancelled',
    promises: ['J9 revocation wins'],
    mutation: {
      store: (honest) => ({
        async cancel(tx, id) {
          await honest.discard(tx, id)
          return true
        },
      }),
    },
  },
  {
    name: 'a tenant’s running jobs are not forgotten',
    promises: ['J9 revocation wins'],
    mutation: { store: () => ({ forgetTenant: async () => 0 }) },
  },
  {
    name: 'a later try is given another version',
    promises: ['J10 redo cannot duplicate'],
    mutation: {
      store: (honest) => ({
        async claim(request) {
          const claims = await honest.claim(request)
          return claims.map((claim) => {
            const { subjectVersion, epoch } = claim.job
            if (subjectVersion === null || epoch === 1) return claim
            return { ...claim, job: { ...claim.job, subjectVersion: subjectVersion + 1 } }
          })
        },
      }),
    },
  },
]
