import { type Answer, Cache, type GetOptions, type Need, OriginBudget, type Ticket } from '@garner/cache'
import type { Body } from '../checks/happening.ts'
import type { Mutant } from './mutant.ts'

/** Who loads, and who waits for whom. */
export const FILL_MUTANTS: Mutant[] = [
  {
    name: 'waiters dropped',
    promises: ['C4 nobody waits longer'],
    mutation: {
      cache: (options) =>
        new (class extends Cache<Body> {
          /** Who waits for another's load hears nothing of it. */
          override async get(key: string, reader: GetOptions<Body>): Promise<Answer<Body>> {
            const answer = await super.get(key, reader)
            return answer.result === 'coalesced' ? new Promise(() => {}) : answer
          }
        })(options),
    },
  },
  {
    name: 'waiters at the gate dropped',
    promises: ['liveness: readers are served', 'liveness: the budget follows the demand'],
    mutation: {
      budget: (options) =>
        new (class extends OriginBudget {
          /** Who is refused at once hears of it; who waits never hears again. */
          override enter(need: Need): Ticket {
            const before = this.counters().waiting
            const ticket = super.enter(need)
            if (this.counters().waiting === before) return ticket
            ticket.admitted.catch(() => {})
            return { ...ticket, admitted: new Promise(() => {}) }
          }
        })(options),
    },
  },
  {
    name: 'patience is not looked at',
    promises: ['C4 nobody waits longer'],
    mutation: { cache: (options) => new Cache({ ...options, waitMs: 1_000 }) },
  },
  {
    name: 'who goes away is not counted',
    promises: ['C4 counted once'],
    mutation: {
      cache: (options) =>
        new (class extends Cache<Body> {
          override counters() {
            const { abandoned, rejected, ...rest } = super.counters()
            return { ...rest, rejected: rejected - abandoned, abandoned: 0 }
          }
        })(options),
    },
  },
  {
    name: 'no coalescing in a process',
    promises: ['C2 one load per process'],
    mutation: {
      cache: (options) => {
        const second = new Cache({ ...options, shared: undefined })
        let count = 0
        return new (class extends Cache<Body> {
          override get(key: string, reader: GetOptions<Body>): Promise<Answer<Body>> {
            return count++ % 2 === 0 ? super.get(key, reader) : second.get(key, reader)
          }
        })(options)
      },
    },
  },
  {
    name: 'fill lease given to everyone',
    promises: ['C2 one fill per fleet'],
    mutation: {
      entries: (honest) => ({
        async look(address, request) {
          const look = await honest.look(address, request)
          return look.fill === 'others' ? { ...look, fill: 'yours', leaseMs: request.leaseMs } : look
        },
      }),
    },
  },
  {
    name: 'who does not get the fill lease loads anyway',
    promises: ['C2 one fill per fleet'],
    mutation: {
      cache: ({ shared, ...options }) =>
        new Cache({
          ...options,
          shared: shared && {
            ...shared,
            async look(address, request) {
              const look = await shared.look(address, request)
              return look.fill === 'others' ? { ...look, fill: 'yours' } : look
            },
          },
        }),
    },
  },
  {
    name: 'fill lease not released',
    promises: ['C2 one fill per fleet'],
    mutation: {
      cache: ({ shared, ...options }) =>
        new Cache({ ...options, shared: shared && { ...shared, release: async () => {} } }),
    },
  },
]
