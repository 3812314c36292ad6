import type { Claim } from '@garner/jobs'
import type { Mutant, Store } from './mutant.ts'

type Said = Pick<Claim, 'job' | 'epoch'>

const FENCED = ['J3 lease and epoch']

/** Who may say what, and until when. */
export const FENCE_MUTANTS: Mutant[] = [
  {
    name: 'no epoch check',
    promises: FENCED,
    mutation: {
      store(honest) {
        /** As if only the state were looked at: a slow worker and its successor both see `running`. */
        const current = async <C extends Said>(claim: C): Promise<C> => {
          const found = await honest.get(claim.job.id)
          return found?.job.state === 'running' ? { ...claim, epoch: found.job.epoch } : claim
        }
        return {
          publish: async (claim, ending, write) => honest.publish(await current(claim), ending, write),
          heartbeat: async (claims, leaseMs) =>
            honest.heartbeat(await Promise.all(claims.map(current)), leaseMs),
        }
      },
    },
  },
  {
    name: 'no lease check at publication',
    promises: FENCED,
    mutation: {
      store: (honest, clock) => ({
        async publish(claim, ending, write) {
          const found = await honest.get(claim.job.id)
          const untilMs = found?.job.leaseUntilMs ?? clock.nowMs() + 1
          const atMs = Math.min(clock.nowMs(), untilMs - 1)
          return clock.holding(atMs, () => honest.publish(claim, ending, write))
        },
      }),
    },
  },
  {
    name: 'a retry hands its epoch back',
    promises: FENCED,
    mutation: { store: reusingEpochs },
  },
  {
    name: 'a lease counts as over before it is',
    promises: FENCED,
    mutation: {
      store: (honest, clock) => ({
        async claim(request) {
          const earlyMs = request.leaseMs / 2
          const claims = await clock.holding(clock.nowMs() + earlyMs, () => honest.claim(request))
          return claims.map((claim) => {
            const leaseUntilMs = claim.job.leaseUntilMs! - earlyMs
            return { ...claim, job: { ...claim.job, leaseUntilMs } }
          })
        },
      }),
    },
  },
  {
    name: 'a lease that has run out is kept',
    promises: [...FENCED, 'liveness', 'J2 a hint is only a hint'],
    mutation: {
      store(honest) {
        const claims: Claim[] = []
        return {
          async claim(request) {
            await honest.heartbeat(claims, 600_000)
            const taken = await honest.claim(request)
            claims.push(...taken)
            return taken
          },
        }
      },
    },
  },
  {
    name: 'a refused heartbeat says nothing',
    promises: [...FENCED, 'J3 the loser is told'],
    mutation: {
      store: (honest) => ({
        async heartbeat(claims, leaseMs) {
          await honest.heartbeat(claims, leaseMs)
          return claims.map(() => 'extended' as const)
        },
      }),
    },
  },
  {
    name: 'a worker does not hear that a heartbeat was refused',
    promises: ['J3 the loser is told'],
    mutation: {
      hears: (op, answer) => (op === 'heartbeat' ? (answer as string[]).map(() => 'extended') : undefined),
    },
  },
  {
    name: 'a lost acknowledgement is not recognised',
    promises: FENCED,
    mutation: {
      store: (honest) => ({
        async publish(claim, ending, write) {
          const answer = await honest.publish(claim, ending, write)
          return answer === 'already-published' ? 'stale-epoch' : answer
        },
      }),
    },
  },
  {
    name: 'refusals are not counted',
    promises: FENCED,
    mutation: {
      store: (honest) => ({
        totals: async () => (await honest.totals()).filter(({ name }) => name !== 'stale_publications'),
      }),
    },
  },
]

/**
 * Each time a job is given back its next claim gets the epoch that was just used, as where tries are counted down to
 * refund one. Outside epochs are the honest ones less the number of times that this has happened.
 */
function reusingEpochs(honest: Store): Partial<Store> {
  const refunds = new Map<string, number>()
  const outside = <C extends Said>(claim: C): C => {
    const epoch = claim.epoch - (refunds.get(claim.job.id) ?? 0)
    return { ...claim, epoch, job: { ...claim.job, epoch } }
  }
  const inside = <C extends Said>(claim: C): C => {
    const epoch = claim.epoch + (refunds.get(claim.job.id) ?? 0)
    return { ...claim, epoch, job: { ...claim.job, epoch } }
  }
  return {
    claim: async (request) => (await honest.claim(request)).map(outside),
    heartbeat: (claims, leaseMs) => honest.heartbeat(claims.map(inside), leaseMs),
    progress: (claim, said) => honest.progress(inside(claim), said),
    openStep: (claim, opening) => honest.openStep(inside(claim), opening),
    recordStep: (claim, step, change) => honest.recordStep(inside(claim), step, change),
    async publish(claim, ending, write) {
      const answer = await honest.publish(inside(claim), ending, write)
      if (answer === 'published' && ending.state === 'ready') {
        refunds.set(claim.job.id, (refunds.get(claim.job.id) ?? 0) + 1)
      }
      return answer
    },
  }
}
