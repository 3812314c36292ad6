import type { Rng } from '../world/random.ts'
import type {
  Act,
  ActEnd,
  Command,
  KindPlan,
  NewJobPlan,
  ProviderAct,
  TenantPlan,
  WorkerPlan,
} from './plan.ts'

export interface PlanParts {
  rng: Rng
  healAtMs: number
  kinds: KindPlan[]
  tenants: TenantPlan[]
  workers: WorkerPlan[]
  /** One tenant floods the queue, and rank alone decides. */
  isFlood: boolean
}

const SUBJECTS = ['bookmark-1', 'bookmark-2', 'bookmark-3']
const KEYS = ['example.org', 'example.com']

/** What is asked for, in order of time: mostly submissions, and what people and operators do meanwhile. */
export function commandsOf(parts: PlanParts): Command[] {
  const commands = [...weights(parts), ...(parts.isFlood ? flood(parts) : everyday(parts))]
  return commands.sort((a, b) => a.atMs - b.atMs)
}

function weights({ tenants }: PlanParts): Command[] {
  return tenants
    .filter(({ weight }) => weight !== 1)
    .map(({ tenant, weight }) => ({ atMs: 0, do: 'weigh', tenant, weight }))
}

/** One tenant's many, more than the workers can do at once, and others' few in between. */
function flood(parts: PlanParts): Command[] {
  const { rng, healAtMs, workers } = parts
  const { most, calm } = troublesOf(rng)
  const commands: Command[] = []
  const slots = workers.reduce((sum, one) => sum + one.slots, 0)
  const aJob = (tenant: string): NewJobPlan => ({
    kind: rng.pick(parts.kinds).kind,
    tenant,
    acts: [rng.is(calm) ? { ...calmAct(rng), workMs: rng.int(20, 200) } : anAct(rng, most)],
  })
  const startMs = rng.int(100, 2_000)
  for (let n = 0; n < 4; n++) {
    const jobs = Array.from({ length: slots + rng.int(2, 8) }, () => aJob('alice'))
    commands.push({
      atMs: startMs + n * 30,
      do: 'submit',
      by: 'web-1',
      jobs,
      through: 'many',
      isRolledBack: false,
    })
  }
  for (let n = 0; n < rng.int(2, 6); n++) {
    const jobs = Array.from({ length: rng.pick([1, 1, 1, 6]) }, () => aJob(rng.pick(['bob', 'carol'])))
    commands.push({
      ...{ atMs: startMs + rng.int(50, 1_500), do: 'submit', by: 'web-2', jobs },
      ...{ through: jobs.length > 1 ? 'many' : rng.pick(['row', 'accept'] as const), isRolledBack: false },
    })
  }
  if (rng.is(0.3)) {
    const atMs = rng.int(2_000, healAtMs)
    commands.push({ atMs, do: 'stop', worker: rng.pick(workers).name, graceMs: 1_000, forMs: 1_000 })
  }
  return commands
}

function everyday(parts: PlanParts): Command[] {
  const { rng, healAtMs } = parts
  const jobs = jobMaker(parts)
  const commands: Command[] = []
  const count = rng.int(6, 22)
  for (let n = 0; n < count; n++) {
    const atMs = rng.int(50, healAtMs - 1_000)
    const size = rng.is(0.2) ? rng.int(2, 5) : 1
    commands.push({
      ...{ atMs, do: 'submit', by: rng.pick(['web-1', 'web-2']) },
      jobs: Array.from({ length: size }, jobs),
      through: size > 1 ? rng.pick(['many', 'accept'] as const) : rng.pick(['row', 'row', 'accept'] as const),
      isRolledBack: rng.is(0.08),
    })
  }
  const asked = commands.map(({ atMs }) => atMs)
  const others = rng.pick([0, 8, 20])
  const makers = Array.from({ length: rng.int(1, 6) }, () => rng.pick(OTHERS))
  for (let n = 0; n < others; n++) {
    // Most come while a job that was just asked for is in somebody's hands.
    const atMs = rng.is(0.7)
      ? rng.pick(asked) + rng.int(0, rng.pick([20, 300, 4_000]))
      : rng.int(500, healAtMs)
    commands.push({ ...rng.pick(makers)(parts), atMs: Math.min(atMs, healAtMs - 1) } as Command)
  }
  return commands
}

type Maker = (
  parts: PlanParts,
) => Command extends infer C ? (C extends Command ? Omit<C, 'atMs'> : never) : never

const OTHERS: Maker[] = [
  ({ rng }) => ({ do: 'bump', subject: rng.pick(SUBJECTS) }),
  ({ rng }) => ({ do: 'bump', subject: rng.pick(SUBJECTS) }),
  ({ rng }) => ({ do: 'forget', subject: rng.pick(SUBJECTS) }),
  ({ rng, tenants }) => ({ do: 'forget-tenant', tenant: rng.pick(tenants).tenant }),
  ({ rng, tenants }) => ({ do: 'revoke', tenant: rng.pick(tenants).tenant }),
  ({ rng, tenants }) => ({ do: 'allow', tenant: rng.pick(tenants).tenant }),
  ({ rng }) => ({ do: 'cancel', which: rng.int(0, 30) }),
  () => ({ do: 'cancel', which: -1 }),
  ({ rng }) => ({ do: 'discard', which: rng.int(0, 30) }),
  ({ rng }) => ({ do: 'repair', which: rng.int(0, 30), isBounded: rng.is(0.5) }),
  ({ rng }) => ({ do: 'repair', which: rng.int(0, 30), isBounded: false }),
  ({ rng, kinds }) => ({ do: 'pause', kind: rng.pick(kinds).kind }),
  ({ rng, kinds }) => ({ do: 'pause', kind: rng.pick(kinds).kind, forMs: rng.int(500, 10_000) }),
  ({ rng, kinds }) => ({ do: 'resume', kind: rng.pick(kinds).kind }),
  ({ rng, tenants }) => ({ do: 'weigh', tenant: rng.pick(tenants).tenant, weight: rng.pick([0.5, 1, 3]) }),
  ({ rng, kinds, tenants }) => ({
    ...{ do: 'schedule', name: rng.pick(['hourly', 'often']), kind: rng.pick(kinds).kind },
    ...{ tenant: rng.pick(tenants).tenant, cron: rng.pick(['*/5 * * * * *', '*/20 * * * * *']) },
    missed: rng.pick(['skip', 'once', 'all'] as const),
  }),
  ({ rng }) => ({ do: 'unschedule', name: rng.pick(['hourly', 'often']) }),
  ({ rng }) => ({ do: 'prune', finishedMs: rng.pick([0, 5_000]) }),
  ({ rng, workers }) => ({
    ...{ do: 'stop', worker: rng.pick(workers).name },
    ...{ graceMs: rng.pick([0, 1_000, 4_000]), forMs: rng.int(100, 5_000) },
  }),
]

/** How often handlers have trouble, and how bad it gets. */
function troublesOf(rng: Rng) {
  return { calm: rng.pick([0.9, 0.5, 0.2]), most: rng.pick([200, 2_000, 12_000]) }
}

/** Makes jobs: some twice under one operation id, some about the same subject or key. */
function jobMaker(parts: PlanParts): () => NewJobPlan {
  const { rng, kinds, tenants } = parts
  const { calm, most } = troublesOf(rng)
  const hasPriorities = rng.is(0.3)
  const asked: NewJobPlan[] = []
  return () => {
    if (asked.length > 0 && rng.is(0.15)) {
      const again = rng.pick(asked)
      return rng.is(0.2) ? { ...again, isOther: true } : again
    }
    const kind = rng.pick(kinds)
    const job: NewJobPlan = {
      kind: kind.kind,
      tenant: rng.pick(tenants).tenant,
      acts: Array.from({ length: rng.int(1, 4) }, () => (rng.is(calm) ? calmAct(rng) : anAct(rng, most))),
    }
    if (rng.is(0.6)) job.operation = `operation-${asked.length + 1}`
    if (rng.is(0.4)) job.subject = rng.pick(SUBJECTS)
    if (kind.perKey !== undefined || rng.is(0.1)) job.key = rng.pick(KEYS)
    if (hasPriorities && rng.is(0.5)) job.priority = rng.pick([-5, 1, 10])
    if (rng.is(0.15)) job.inMs = rng.int(100, 15_000)
    if (job.operation !== undefined) asked.push(job)
    return job
  }
}

function calmAct(rng: Rng): Act {
  return { workMs: rng.int(0, 60), isDeaf: false, tellsProgress: false, provider: 'answers', ends: 'writes' }
}

/** As often as they stand here. */
const ENDS: ActEnd[] = [
  ...new Array<ActEnd>(3).fill('writes'),
  ...new Array<ActEnd>(2).fill('retry'),
  ...(['writes-nothing', 'retry-after', 'retry-uncounted', 'degrade', 'permanent'] as const),
  ...(['bug', 'store-trouble', 'writing-fails', 'never'] as const),
]
const PROVIDER_ACTS: ProviderAct[] = [
  ...(['answers', 'answers', 'bills-and-cuts', 'bills-and-dawdles', 'cuts', 'refuses'] as const),
]

function anAct(rng: Rng, mostMs: number): Act {
  return {
    workMs: rng.int(0, mostMs),
    isDeaf: rng.is(0.3),
    tellsProgress: rng.is(0.3),
    provider: rng.pick(PROVIDER_ACTS),
    ends: rng.pick(ENDS),
  }
}
