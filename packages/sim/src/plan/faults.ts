import type { Rng } from '../world/random.ts'
import type { PlanParts } from './commands.ts'
import type { Aim, Fault } from './plan.ts'

/** What goes wrong: nothing in some plans, a few kinds of trouble in most, so that each gets its share. */
export function faultsOf(parts: PlanParts): Fault[] {
  const { rng } = parts
  const makers = Array.from({ length: rng.int(1, 4) }, () => rng.pick(MAKERS))
  const faults = Array.from({ length: rng.pick([0, 2, 5, 10, 20]) }, () => rng.pick(makers)(rng, parts))
  const isOfStore = (fault: Fault) => fault.do === 'jump' && fault.machine === null
  const tooMany = new Set(faults.filter(isOfStore).slice(STORE_JUMPS))
  return faults.filter((fault) => !tooMany.has(fault))
}

/** 2: whatever was due, held or leased before waits longer by as much as the store's clock is set back. */
const STORE_JUMPS = 2

type Maker = (rng: Rng, parts: PlanParts) => Fault

/** Methods at whose seams something is at stake; polls and reads are most of the calls, and little hangs on them. */
const OPS_OF_WORKERS = [
  ...[
    'claim',
    'publish',
    'publish',
    'publish',
    'heartbeat',
    'openStep',
    'recordStep',
    'recordStep',
    'progress',
  ],
  ...['put results', 'put details', 'get accounts', 'account'],
]
const OPS_OF_OFFICES = ['transaction', 'submit', 'submitMany', 'accept', 'put saved']

/** Workers are hit three times as often as those who ask. */
function aMachine(rng: Rng, { workers }: PlanParts): string {
  return rng.is(0.75) ? rng.pick(workers).name : rng.pick(['web-1', 'web-2', 'ops'])
}

/** Early calls are hit more: every plan has them. */
function anAim(rng: Rng, parts: PlanParts): Aim {
  const machine = aMachine(rng, parts)
  if (rng.is(0.4)) return { machine, call: rng.int(1, rng.pick([20, 60, 200])) }
  const ops = machine.startsWith('worker') ? OPS_OF_WORKERS : OPS_OF_OFFICES
  return { machine, op: rng.pick(ops), call: rng.int(1, 12) }
}

/** Some shorter than a lease, most longer. */
function aPause(rng: Rng, { workers }: PlanParts): number {
  return Math.ceil(workers[0]!.leaseMs * rng.pick([0.3, 0.9, 1.1, 1.5, 3]))
}

const MAKERS: Maker[] = [
  (rng, parts) => ({
    ...{ do: 'crash', ...anAim(rng, parts) },
    ...{ when: rng.pick(['before', 'after'] as const), forMs: rng.int(10, 5_000) },
  }),
  (rng, parts) => ({
    ...{ do: 'crash', machine: aMachine(rng, parts) },
    ...{ atMs: rng.int(100, parts.healAtMs), forMs: rng.int(10, 5_000) },
  }),
  (rng, parts) => ({
    ...{ do: 'stall', ...anAim(rng, parts) },
    ...{ when: rng.pick(['before', 'after'] as const), forMs: aPause(rng, parts) },
  }),
  (rng, parts) => ({
    ...{ do: 'stall', machine: aMachine(rng, parts) },
    ...{ atMs: rng.int(100, parts.healAtMs), forMs: aPause(rng, parts) },
  }),
  (rng, parts) => ({
    ...{ do: 'fail', ...anAim(rng, parts) },
    ...{ when: rng.pick(['before', 'after'] as const), inMs: rng.pick([0, 0, 2_000]) },
  }),
  (rng, parts) => ({
    ...{ do: 'slow', ...anAim(rng, parts) },
    byMs: aPause(rng, parts),
  }),
  (rng, { workers }) => ({
    ...{ do: 'fail', machine: rng.pick(workers).name, op: 'publish', call: rng.int(1, 12) },
    ...{ when: 'after', inMs: rng.pick([0, 2_000]) },
  }),
  (rng, { workers }) => ({
    ...{ do: 'crash', machine: rng.pick(workers).name, op: 'publish', call: rng.int(1, 12) },
    ...{ when: 'before', forMs: rng.int(10, 5_000) },
  }),
  (rng, parts) => ({ do: 'outage', atMs: rng.int(100, parts.healAtMs), forMs: rng.int(200, 15_000) }),
  (rng, parts) => ({
    ...{ do: 'jump', machine: rng.is(0.6) ? null : aMachine(rng, parts), atMs: rng.int(100, parts.healAtMs) },
    byMs: rng.pick([-60_000, -5_000, -500, 500, 5_000, 60_000]),
  }),
]
