import type { Rng } from '../../world/random.ts'
import type { PlanParts } from './generate.ts'
import type { Fault, SharedTrouble } from './plan.ts'

/** What goes wrong: nothing in some plans, a few kinds of trouble in most, so that each gets its share. */
export function faultsOf(parts: PlanParts): Fault[] {
  const { rng } = parts
  const makers = Array.from({ length: rng.int(1, 4) }, () => rng.pick(MAKERS))
  const faults = Array.from({ length: rng.pick([0, 2, 4, 8, 14]) }, () => rng.pick(makers)(rng, parts)).flat()
  return possible(faults)
}

/**
 * Without what the library says that it does not see: a suspension during which the wall clock was set back; a second
 * step of the database's clock before shares from before the first have run out.
 */
function possible(faults: Fault[]): Fault[] {
  const suspended = new Set(
    faults.flatMap((one) => (one.do === 'suspend' && one.forMs > HICCUP_MS ? [one.machine] : [])),
  )
  const setBack = new Set<string>()
  let hasStepped = false
  return faults.filter((one) => {
    if (one.do !== 'jump') return true
    if (one.machine === null) {
      if (hasStepped) return false
      hasStepped = true
      return true
    }
    if (one.byMs > 0) return true
    if (suspended.has(one.machine) || setBack.has(one.machine)) return false
    setBack.add(one.machine)
    return true
  })
}

/** A machine that stands still for this long cannot tell it from a clock that is being corrected. */
const HICCUP_MS = 45

type Maker = (rng: Rng, parts: PlanParts) => Fault[]

function aMachine(rng: Rng, { instances }: PlanParts): string {
  return rng.pick(instances).name
}

function when(rng: Rng, { healAtMs }: PlanParts): number {
  return rng.int(300, healAtMs)
}

/** A hiccup, and the ledger cannot be reached: the share is used to its end by a clock that is behind. */
function usedToItsEnd(rng: Rng, parts: PlanParts): Fault[] {
  const machine = aMachine(rng, parts)
  // Long enough before all heals for the share to end.
  const atMs = rng.int(300, parts.healAtMs - 3_500)
  return [
    { do: 'suspend', machine, atMs: atMs + rng.int(10, 1_500), forMs: HICCUP_MS },
    { do: 'cut', machine, atMs, forMs: rng.int(3_500, 7_000), when: rng.pick(['before', 'after'] as const) },
  ]
}

/** Answers come late, and then none: the share has been asked for long before it is heard of. */
function heardLate(rng: Rng, parts: PlanParts): Fault[] {
  const machine = aMachine(rng, parts)
  const atMs = rng.int(300, parts.healAtMs - 3_500)
  const forMs = rng.int(300, 1_500)
  return [
    { do: 'late', machine, atMs, forMs, byMs: rng.int(500, 2_500) },
    { do: 'cut', machine, atMs: atMs + forMs, forMs: rng.int(3_500, 7_000), when: 'before' },
  ]
}

const MAKERS: Maker[] = [
  ...[usedToItsEnd, usedToItsEnd, heardLate],
  // Some shorter than a share lasts, most longer.
  (rng, parts) => [
    {
      ...{ do: 'stall', machine: aMachine(rng, parts), atMs: when(rng, parts) },
      forMs: rng.pick([40, 300, 1_500, 3_200, 4_500, 6_000]),
    },
  ],
  (rng, parts) => [
    {
      ...{ do: 'catch', machine: aMachine(rng, parts), call: rng.int(1, 40) },
      forMs: rng.pick([300, 1_500, 3_200, 6_000]),
    },
  ],
  (rng, parts) => [
    {
      ...{ do: 'suspend', machine: aMachine(rng, parts), atMs: when(rng, parts) },
      forMs: rng.pick([HICCUP_MS, 900, 3_500, 6_000]),
    },
  ],
  (rng, parts) => [
    {
      ...{ do: 'cut', machine: aMachine(rng, parts), atMs: when(rng, parts) },
      ...{ forMs: rng.int(300, 6_000), when: rng.pick(['before', 'after'] as const) },
    },
  ],
  (rng, parts) => [
    {
      ...{ do: rng.pick(['lose', 'delay'] as const), machine: aMachine(rng, parts) },
      ...{ call: rng.int(1, 20), byMs: rng.pick([0, 800, 2_500, 5_000]) },
    },
  ],
  (rng, parts) => [
    { do: 'crash', machine: aMachine(rng, parts), atMs: when(rng, parts), forMs: rng.int(10, 3_000) },
  ],
  (rng, parts) => [
    {
      ...{ do: 'jump', machine: rng.is(0.4) ? null : aMachine(rng, parts), atMs: when(rng, parts) },
      byMs: rng.pick([-600_000, -5_000, -500, 500, 5_000, 3_600_000]),
    },
  ],
  (rng, parts) => [{ do: 'failover', atMs: when(rng, parts) }],
  (rng, parts) => [
    {
      ...{ do: 'shared', atMs: when(rng, parts), forMs: rng.int(100, 4_000) },
      is: rng.pick<SharedTrouble>(['down', 'slow', 'emptied', 'poisoned', 'silent']),
    },
  ],
  (rng, parts) => [
    {
      ...{ do: 'origin', atMs: when(rng, parts), forMs: rng.int(300, 3_000) },
      is: rng.pick(['slow', 'failing', 'failing'] as const),
    },
  ],
  (rng, parts) => [
    { do: 'lag', atMs: when(rng, parts), forMs: rng.int(500, 5_000), byMs: rng.pick([300, 2_000]) },
  ],
]
