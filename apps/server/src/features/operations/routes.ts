import type { IncomingHttpHeaders } from 'node:http'
import type { Transaction } from '@garner/db'
import {
  type AttemptRecord,
  type Inspection,
  inspect,
  type Job,
  type JobState,
  type JobStore,
  type PausedKind,
} from '@garner/jobs'
import { type Static, Type } from 'typebox'
import { type App, isLoopbackName, operator } from '../../http.ts'
import { HttpProblem, notFound, unavailable } from '../../problem.ts'
import type { Metrics } from './metrics.ts'
import { registerVision, type VisionDeps, visionOverview } from './vision-routes.ts'

/** What the operator and monitoring see: whether it works, what gave up, and how to start it again. */
export interface OperationsDeps extends VisionDeps {
  jobs: JobStore<Transaction>
  metrics: Metrics
  /** Throws or answers what is missing; empty when the database is reachable and its migrations are done. */
  missing: () => Promise<string[]>
  /** What the whole fleet holds of the origin budget; null while nobody has asked for any. */
  originBudget: () => Promise<FleetBudget | null>
  onWork: () => void
  nowMs: () => number
  /** Shows, in the same transaction, that a job was discarded. */
  onDiscard: (tx: Transaction, job: Job) => Promise<void>
  /** The same for a job that was started again. */
  onRepair: (tx: Transaction, job: Job) => Promise<void>
}

/** As the ledger counts it. */
export interface FleetBudget {
  capacity: { rate: number; concurrency: number }
  reserved: { rate: number; concurrency: number }
  holders: { holder: string; rate: number; concurrency: number; wantRate: number }[]
}

const closed = { additionalProperties: false }
const STATES = ['ready', 'running', 'succeeded', 'superseded', 'degraded', 'dead', 'cancelled'] as const

const JobsQuery = Type.Object(
  {
    state: Type.Optional(Type.String({ enum: [...STATES] })),
    kind: Type.Optional(Type.String({ maxLength: 64 })),
    after: Type.Optional(Type.String({ maxLength: 64 })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 50 })),
  },
  closed,
)
const RepairMany = Type.Object(
  {
    kind: Type.String({ maxLength: 64 }),
    /** Only those that gave up for this reason; left out: all dead jobs of the kind. */
    reason: Type.Optional(Type.String({ maxLength: 200 })),
  },
  closed,
)
type RepairMany = Static<typeof RepairMany>

const Pause = Type.Object(
  {
    /** For people to see: why nothing of this kind moves. */
    reason: Type.String({ minLength: 1, maxLength: 200 }),
    /** Seconds; left out: until it is resumed. */
    for_s: Type.Optional(Type.Integer({ minimum: 1, maximum: 30 * 86_400 })),
  },
  closed,
)
type Pause = Static<typeof Pause>

/** 500 at a time: one transaction that the savers wait for stays well under 50 ms. */
const BULK_PAGE = 500

export function registerOperations(app: App, deps: OperationsDeps): void {
  const { jobs } = deps

  registerVision(app, deps)

  app.get('/healthz', async () => ({ status: 'alive' }))
  app.get('/readyz', async () => {
    const missing = await deps.missing()
    if (missing.length > 0) throw unavailable(`Not ready: ${missing.join(', ')}.`, 1_000)
    return { status: 'ready' }
  })

  app.get('/metrics', async (request, reply) => {
    if (!isLocal(request.ip, request.headers)) operator(request)
    return reply.type(deps.metrics.registry.contentType).send(await deps.metrics.registry.metrics())
  })

  /** The numbers of the operations page: what waits, how long, what gave up, what is paused. */
  app.get('/api/admin/overview', async (request) => {
    operator(request)
    const reads = toReads(deps.metrics, await deps.originBudget())
    return { jobs: toOverview(await inspect(jobs)), reads, vision: await visionOverview(deps) }
  })

  app.post<{ Params: { kind: string } }>(
    '/api/admin/kinds/:kind/pause',
    { schema: { body: Pause } },
    async (request) => {
      operator(request)
      const { kind } = request.params
      const { reason, for_s: forS } = request.body as Pause
      const untilMs = forS === undefined ? undefined : deps.nowMs() + forS * 1_000
      await jobs.transaction((tx) => jobs.pause(tx, kind, { reason, untilMs }))
      return { paused: (await jobs.paused()).map(toPaused) }
    },
  )

  app.post<{ Params: { kind: string } }>('/api/admin/kinds/:kind/resume', async (request) => {
    operator(request)
    await jobs.transaction((tx) => jobs.resume(tx, request.params.kind))
    deps.onWork()
    return { paused: (await jobs.paused()).map(toPaused) }
  })

  app.get('/api/admin/jobs', { schema: { querystring: JobsQuery } }, async (request) => {
    operator(request)
    const { state, kind, after, limit = 50 } = request.query
    const found = await jobs.list({ state: state as JobState | undefined, kind, after, limit: limit + 1 })
    const shown = found.slice(0, limit)
    return { jobs: shown.map(toJob), next: found.length > limit ? shown.at(-1)!.id : null }
  })

  app.get<{ Params: { id: string } }>('/api/admin/jobs/:id', async (request) => {
    operator(request)
    const found = await jobs.get(request.params.id)
    if (!found) throw notFound()
    return { ...toJob(found.job), attempts: found.attempts.map(toAttempt) }
  })

  app.post<{ Params: { id: string } }>('/api/admin/jobs/:id/repair', async (request, reply) => {
    operator(request)
    const job = await jobs.transaction((tx) => repair(deps, tx, request.params.id))
    if (!job) throw notFound()
    if (job.state !== 'ready' && job.state !== 'running')
      throw cannot('This job was superseded: there is nothing to repair.')
    deps.onWork()
    return reply.code(202).send(toJob(job))
  })

  app.post<{ Params: { id: string } }>('/api/admin/jobs/:id/discard', async (request) => {
    operator(request)
    const known = await jobs.get(request.params.id)
    const isDiscarded = await jobs.transaction(async (tx) => {
      if (!(await jobs.discard(tx, request.params.id))) return false
      if (known) await deps.onDiscard(tx, known.job)
      return true
    })
    const found = await jobs.get(request.params.id)
    if (!found) throw notFound()
    if (!isDiscarded)
      throw cannot(`This job is ${found.job.state}: only waiting and dead jobs can be discarded.`)
    return toJob(found.job)
  })

  app.post('/api/admin/jobs/repair', { schema: { body: RepairMany } }, async (request, reply) => {
    operator(request)
    const repaired = await repairMany(deps, request.body)
    deps.onWork()
    return reply.code(202).send({ repaired })
  })
}

async function repair(
  { jobs, onRepair }: OperationsDeps,
  tx: Transaction,
  id: string,
): Promise<Job | undefined> {
  const job = await jobs.repair(tx, id)
  if (job?.state === 'ready') await onRepair(tx, job)
  return job
}

/**
 * Repairs every dead job of a kind, a page at a time. Cut in the middle: those done are done, the others are
 * still dead, and asking again goes on with them.
 */
async function repairMany(deps: OperationsDeps, { kind, reason }: RepairMany): Promise<number> {
  const { jobs } = deps
  let repaired = 0
  let after: string | undefined
  for (;;) {
    const page = await jobs.list({ state: 'dead', kind, after, limit: BULK_PAGE })
    const chosen = page.filter((job) => reason === undefined || job.lastError === reason)
    await jobs.transaction(async (tx) => {
      for (const job of chosen) await repair(deps, tx, job.id)
    })
    repaired += chosen.length
    after = page.at(-1)?.id
    if (page.length < BULK_PAGE || after === undefined) return repaired
  }
}

function cannot(detail: string): HttpProblem {
  return new HttpProblem({ type: 'wrong-state', title: 'Not in this state', status: 409, detail })
}

/** Asked from this machine itself, not by a proxy on it for somebody else. */
function isLocal(ip: string, headers: IncomingHttpHeaders): boolean {
  const isLoopback = ip === '::1' || ip.startsWith('127.') || ip.startsWith('::ffff:127.')
  const isForwarded = headers['x-forwarded-for'] !== undefined || headers.forwarded !== undefined
  return isLoopback && !isForwarded && isLoopbackName(headers.host)
}

/** In the words of HTTP: instants are ISO 8601, durations are seconds. */
function toOverview({ kinds, schedules, dead, hasMoreDead }: Inspection): Record<string, unknown> {
  return {
    kinds: kinds.map(({ kind, jobs, oldestDueMs, finished, retries, stalePublications, paused }) => ({
      ...{ kind, jobs, finished, retries, stale_publications: stalePublications },
      oldest_due_s: oldestDueMs === null ? null : oldestDueMs / 1_000,
      paused: paused && { reason: paused.reason, since: iso(paused.sinceMs), until: iso(paused.untilMs) },
    })),
    schedules: schedules.map(({ name, kind, cron, zone, missed, nextAtMs, lastFiredAtMs }) => ({
      ...{ name, kind, cron, zone, missed, next_at: iso(nextAtMs), last_fired_at: iso(lastFiredAtMs) },
    })),
    dead: dead.map((job) => ({
      ...{ id: job.id, kind: job.kind, tenant: job.tenant, subject: job.subject, error: job.lastError },
      ...{ attempt: job.attempt, generation: job.generation, finished_at: iso(job.finishedAtMs) },
    })),
    has_more_dead: hasMoreDead,
  }
}

/** List reads: this process's since its start, and who holds what of the fleet's budget now. */
function toReads(metrics: Metrics, fleet: FleetBudget | null): Record<string, unknown> {
  const { offered, inFlight, originReads, ended } = metrics.reads()
  const own = metrics.origin()
  return {
    ...{ offered, ...ended, in_flight: inFlight, origin_reads: originReads },
    share: own && {
      ...{ rate: own.rate, concurrency: own.concurrency, in_flight: own.inFlight, waiting: own.waiting },
      ...{ refused: own.refused, renewals: own.renewals, renewal_failures: own.renewalFailures },
    },
    copies_bytes: own?.memoryBytes ?? 0,
    budget: fleet && {
      ...{ rate: fleet.capacity.rate, concurrency: fleet.capacity.concurrency, reserved: fleet.reserved },
      holders: fleet.holders.map(({ holder, rate, concurrency, wantRate }) => ({
        ...{ holder, rate, concurrency, wanted_rate: wantRate },
      })),
    },
  }
}

function toPaused({ kind, reason, sinceMs, untilMs }: PausedKind): Record<string, unknown> {
  return { kind, reason, since: iso(sinceMs), until: iso(untilMs) }
}

function toJob(job: Job): Record<string, unknown> {
  return {
    ...{ id: job.id, kind: job.kind, tenant: job.tenant, subject: job.subject, state: job.state },
    ...{ attempt: job.attempt, epoch: job.epoch, generation: job.generation, error: job.lastError },
    submitted_at: iso(job.submittedAtMs),
    next_try_at: job.state === 'ready' ? iso(job.runAtMs) : null,
    finished_at: iso(job.finishedAtMs),
    lease_until: iso(job.leaseUntilMs),
  }
}

function toAttempt(one: AttemptRecord): Record<string, unknown> {
  return {
    ...{ generation: one.generation, attempt: one.attempt, epoch: one.epoch, worker: one.worker },
    ...{
      started_at: iso(one.startedAtMs),
      ended_at: iso(one.endedAtMs),
      outcome: one.outcome,
      error: one.error,
    },
  }
}

function iso(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString()
}
