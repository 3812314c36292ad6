import { Rng } from '../../world/random.ts'
import { commandsOf } from './commands.ts'
import { faultsOf } from './faults.ts'
import type { InstancePlan, Plan } from './plan.ts'

export interface PlanParts {
  rng: Rng
  healAtMs: number
  rate: number
  instances: InstancePlan[]
  hasShared: boolean
}

/**
 * What a seed stands for. Each plan has some of everything and not all of it: what is left out (no shared cache, no
 * faults, no saves, demand in one place) lets the rest get deeper. Pure.
 */
export function generate(seed: number): Plan {
  const rng = new Rng(seed)
  const healAtMs = rng.int(4_500, 8_000)
  const rate = rng.pick([20, 20, 25])
  const hasShared = rng.is(0.7)
  const instances = instancesOf(rng)
  const parts = { rng, healAtMs, rate, instances, hasShared }
  const freshMs = rng.pick([300, 1_000])
  return {
    seed,
    startMs: Date.UTC(2026, 5, 1, 12),
    healAtMs,
    capacity: { rate, concurrency: rng.pick([6, 10]), loadMaxMs: 2_000 },
    rules: { freshMs, maxAgeMs: freshMs * rng.pick([2, 4, 10]), waitMs: 250, loadMs: 1_500 },
    hasShared,
    lagMs: rng.pick([0, 30, 400]),
    ledger: {
      mostMs: rng.pick([2, 5, 20]),
      slowMs: rng.pick([300, 1_500, 5_000]),
      slowOneIn: rng.pick([8, 30, 1_000]),
    },
    instances,
    commands: commandsOf(parts),
    faults: faultsOf(parts),
  }
}

/** Two to five; most are there from the beginning. */
function instancesOf(rng: Rng): InstancePlan[] {
  return Array.from({ length: rng.int(2, 5) }, (_, n) => ({
    name: `web-${n + 1}`,
    startAtMs: n === 0 || rng.is(0.7) ? 0 : rng.int(500, 5_000),
    skewMs: rng.pick([0, -3_600_000, 3_600_000, 90_000]),
    driftPpm: rng.pick([0, -200, 200]),
  }))
}
