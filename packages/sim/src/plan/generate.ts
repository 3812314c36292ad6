import { Rng } from '../world/random.ts'
import { commandsOf } from './commands.ts'
import { faultsOf } from './faults.ts'
import type { Hints, KindPlan, Latency, Plan, TenantPlan, WorkerPlan } from './plan.ts'

/** 23:59:20 UTC on the last day of a month: half of the runs cross an hour, a day and a month. */
const NEAR_MIDNIGHT_MS = Date.UTC(2026, 10, 30, 23, 59, 20)

/**
 * What a seed stands for. Each plan has some of everything and not all of it: what is left out (no faults on the
 * wire, no limits, one worker, a flood of one tenant) lets the rest get deeper. Pure.
 */
export function generate(seed: number): Plan {
  const rng = new Rng(seed)
  const healAtMs = rng.int(20_000, 60_000)
  const isFlood = rng.is(0.25)
  const kinds = kindsOf(rng, isFlood)
  const tenants = tenantsOf(rng)
  const workers = workersOf(rng)
  const parts = { rng, healAtMs, kinds, tenants, workers, isFlood }
  return {
    seed,
    startMs: rng.is(0.5) ? NEAR_MIDNIGHT_MS : Date.UTC(2026, 5, 1, 12),
    healAtMs,
    bounds: rng.is(0.3)
      ? { perTenant: rng.int(3, 8), total: rng.int(6, 14) }
      : { perTenant: 1_000, total: 5_000 },
    latency: latencyOf(rng),
    hints: hintsOf(rng),
    workers,
    kinds,
    tenants,
    commands: commandsOf(parts),
    faults: faultsOf(parts),
  }
}

function latencyOf(rng: Rng): Latency {
  return {
    mostMs: rng.pick([0, 2, 2, 10, 50]),
    slowMs: rng.pick([100, 1_000, 4_000]),
    slowOneIn: rng.pick([20, 100, 1_000]),
  }
}

function hintsOf(rng: Rng): Hints {
  return rng.pick<Hints>([
    { lost: 0, repeated: 0, mostDelayMs: 2 },
    { lost: 0.3, repeated: 0.3, mostDelayMs: 50 },
    { lost: 0.9, repeated: 0.1, mostDelayMs: 5_000 },
    { lost: 1, repeated: 0, mostDelayMs: 0 },
  ])
}

function workersOf(rng: Rng): WorkerPlan[] {
  const leaseMs = rng.pick([1_000, 3_000, 10_000])
  const count = rng.pick([1, 2, 2, 3])
  return Array.from({ length: count }, (_, n) => ({
    name: `worker-${n + 1}`,
    slots: rng.pick([1, 2, 4, 8]),
    claimMax: rng.pick([1, 3, 500]),
    leaseMs,
    pollMs: rng.pick([500, 1_000, 2_000]),
    skewMs: rng.pick([0, 0, -90_000, 90_000, 3_600_000]),
  }))
}

function tenantsOf(rng: Rng): TenantPlan[] {
  const weights = rng.is(0.5) ? [1] : [0.5, 1, 2, 5]
  return ['alice', 'bob', 'carol'].map((tenant) => ({ tenant, weight: rng.pick(weights) }))
}

/** One kind for each thing that kinds can do. */
function kindsOf(rng: Rng, isFlood: boolean): KindPlan[] {
  const base = () => ({
    attemptsMax: rng.int(2, 4),
    deadlineMs: rng.pick([15_000, 60_000, 3_600_000]),
    baseMs: rng.pick([200, 2_000]),
    maxMs: rng.pick([2_000, 10_000]),
    attemptMs: rng.pick([5_000, 20_000]),
    canDegrade: rng.is(0.5),
    hasPart: rng.is(0.3),
  })
  const use = {
    allowance: 'vision',
    limit: rng.pick([2, 5, 1_000]),
    per: rng.pick(['hour', 'day', 'month'] as const),
  }
  const paid: KindPlan[] = [
    { kind: 'photo', ...base(), paid: { use, canResume: true, ifUnknown: 'degrade' } },
    { kind: 'scan', ...base(), paid: { use, canResume: false, ifUnknown: 'degrade' } },
    { kind: 'draft', ...base(), paid: { use, canResume: rng.is(0.5), ifUnknown: 'retry' } },
  ]
  if (isFlood)
    return [
      { kind: 'plain', ...base() },
      { kind: 'many', ...base(), batchMax: rng.int(2, 5) },
    ]
  return [
    { kind: 'plain', ...base() },
    { kind: 'many', ...base(), batchMax: rng.int(2, 5) },
    {
      kind: 'page',
      ...base(),
      perKey: rng.int(1, 2),
      ...(rng.is(0.5) && { spacingMs: rng.pick([300, 2_000]) }),
    },
    { kind: 'export', ...base(), concurrency: rng.int(1, 2) },
    ...paid,
  ]
}
