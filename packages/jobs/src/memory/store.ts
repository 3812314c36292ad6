import type { Clock } from '@garner/db'
import type { Claim, Json } from '../job.ts'
import { type Bounds, costOf } from '../rank.ts'
import type { JobCounts, JobFilter, JobStore } from '../store.ts'
import { claimDue } from './claim.ts'
import { cancelJob, forgetJobs, forgetTenant, repairJob, supersedeJobs } from './lifecycle.ts'
import { Listeners } from './listeners.ts'
import { pruneOld } from './prune.ts'
import { LeaseRanOut, publishClaim } from './publish.ts'
import { Room } from './room.ts'
import { setSchedule } from './schedules.ts'
import { allowanceOf, openStep, recordStep, stepsOf } from './steps.ts'
import { type Acceptance, submitAll, submitOne } from './submit.ts'
import { by, isPending, keyOf, Tables, toJob } from './tables.ts'
import { MemoryTransaction, Turns } from './transaction.ts'

export { MemoryTransaction }

export interface MemoryStoreOptions {
  clock: Clock
  bounds: Bounds
  /** What QueueFull tells the caller to wait. Default 10_000 ms, as in the durable stores. */
  retryAfterMs?: number
}

/**
 * The contract of store.ts as code that can be stepped through: plain maps, one transaction at a time, undone on
 * failure. It is the specification that the other stores are compared with, and good for tests; it forgets
 * everything with the process, and looks through all jobs for each answer.
 */
export function createMemoryStore({
  clock,
  bounds,
  retryAfterMs = 10_000,
}: MemoryStoreOptions): JobStore<MemoryTransaction> {
  const tables = new Tables()
  const turns = new Turns()
  const listeners = new Listeners(clock)
  const now = () => clock.nowMs()
  const transaction = <T>(work: (tx: MemoryTransaction) => Promise<T>) =>
    turns.take(() => MemoryTransaction.run(work))
  const writing = <T>(work: (tx: MemoryTransaction) => T) => transaction(async (tx) => work(tx))
  /** Reads take their turn too, so that they never see what may yet be undone. */
  const read = <T>(look: () => T) => turns.take(async () => look())

  const room = () => new Room(tables, { ...bounds, retryAfterMs })
  const acceptance = (): Acceptance => ({ nowMs: now(), room: room() })

  /** Something may have become due: new work, or room for what was waiting. */
  function announcing<T>(tx: MemoryTransaction, work: () => T): T {
    listeners.announce(tx)
    return work()
  }

  function nextDueInMs(kinds: string[]): number | null {
    const nowMs = now()
    const isAsked = (kind: string) => kinds.includes(kind) && !tables.isPaused(kind, nowMs)
    const ofJobs = tables.jobs
      .all()
      .filter((one) => isPending(one) && isAsked(one.kind))
      .map(({ state, leaseUntilMs, isAside, runAtMs, kind, key }) => {
        if (state === 'running') return leaseUntilMs!
        if (isAside) return runAtMs
        return key === null ? nowMs : (tables.nextStarts.get(keyOf(kind, key)) ?? nowMs)
      })
    const ofSchedules = tables.schedules.all().filter((one) => isAsked(one.kind))
    const instants = [...ofJobs, ...ofSchedules.map((one) => one.nextAtMs)]
    if (instants.length === 0) return null
    return Math.max(0, instants.reduce((first, one) => Math.min(first, one)) - nowMs)
  }

  function holdsLease({ job, epoch }: Pick<Claim, 'job' | 'epoch'>): boolean {
    const row = tables.jobs.get(job.id)
    return row?.state === 'running' && row.epoch === epoch && row.leaseUntilMs! > now()
  }

  function heartbeat(tx: MemoryTransaction, claim: Pick<Claim, 'job' | 'epoch'>, leaseMs: number) {
    if (!holdsLease(claim)) return 'lost'
    tables.patch(tx, claim.job, { leaseUntilMs: now() + leaseMs })
    return 'extended'
  }

  function progress(tx: MemoryTransaction, claim: Pick<Claim, 'job' | 'epoch'>, said: Json) {
    if (!holdsLease(claim)) return 'lost'
    tables.patch(tx, claim.job, { progress: structuredClone(said) })
    return 'stored'
  }

  function counts(): JobCounts[] {
    const found = new Map<string, JobCounts>()
    for (const { kind, state, runAtMs } of tables.jobs.all()) {
      const entry = found.get(keyOf(kind, state)) ?? { kind, state, count: 0, oldestDueMs: null }
      const dueForMs = now() - runAtMs
      if (state === 'ready' && dueForMs >= 0) entry.oldestDueMs = Math.max(entry.oldestDueMs ?? 0, dueForMs)
      found.set(keyOf(kind, state), { ...entry, count: entry.count + 1 })
    }
    return [...found.values()].sort(
      by(
        (one) => one.kind,
        (one) => one.state,
      ),
    )
  }

  return {
    transaction,
    submit: async (tx, submission) => announcing(tx, () => submitOne(tx, tables, submission, acceptance())),
    submitMany: async (tx, submissions) =>
      announcing(tx, () => submitAll(tx, tables, submissions, acceptance())),
    accept: (submissions) =>
      writing((tx) => announcing(tx, () => submitAll(tx, tables, submissions, acceptance()))),
    claim: (request) => writing((tx) => claimDue(tx, tables, request, acceptance())),
    nextDueInMs: (kinds) => read(() => nextDueInMs(kinds)),
    listen: async (wake) => listeners.listen(wake),
    heartbeat: (claims, leaseMs) => writing((tx) => claims.map((one) => heartbeat(tx, one, leaseMs))),
    async publish(claim, ending, write) {
      const attempt = () =>
        transaction((tx) => announcing(tx, () => publishClaim(tx, tables, { claim, ending, now, write })))
      try {
        return await attempt()
      } catch (error) {
        if (error instanceof LeaseRanOut) return attempt() // all undone; now it is refused and counted
        throw error
      }
    },
    progress: (claim, said) => writing((tx) => progress(tx, claim, said)),
    openStep: (claim, step) => writing((tx) => openStep(tx, tables, { claim, step, nowMs: now() })),
    recordStep: (claim, name, change) =>
      writing((tx) => recordStep(tx, tables, { claim, name, change, nowMs: now() })),
    steps: (jobId) => read(() => stepsOf(tables, jobId)),
    allowance: (of) => read(() => allowanceOf(tables, { ...of, nowMs: now() })),
    supersede: async (tx, { subject, version }) =>
      announcing(tx, () => supersedeJobs(tx, tables, { subject, version, nowMs: now() })),
    forget: async (tx, subject) =>
      announcing(tx, () => forgetJobs(tx, tables, (one) => one.subject === subject)),
    forgetTenant: async (tx, tenant) => announcing(tx, () => forgetTenant(tx, tables, tenant)),
    async repair(tx, id, { isBounded = false } = {}) {
      const wanted = { id, nowMs: now(), room: isBounded ? room() : null }
      const row = announcing(tx, () => repairJob(tx, tables, wanted))
      return row && toJob(row)
    },
    discard: async (tx, id) =>
      announcing(tx, () => cancelJob(tx, tables, { id, from: ['ready', 'dead'], nowMs: now() })),
    cancel: async (tx, id) =>
      announcing(tx, () => cancelJob(tx, tables, { id, from: ['ready', 'running', 'dead'], nowMs: now() })),
    async pause(tx, kind, { reason, untilMs = null }) {
      tables.pauses.set(tx, kind, { kind, reason, sinceMs: now(), untilMs })
    },
    async resume(tx, kind) {
      const wasPaused = tables.isPaused(kind, now())
      announcing(tx, () => tables.pauses.delete(tx, kind))
      return wasPaused
    },
    paused: () =>
      read(() =>
        tables.pauses
          .all()
          .filter((one) => tables.isPaused(one.kind, now()))
          .sort(by((one) => one.kind))
          .map((one) => structuredClone(one)),
      ),
    async setWeight(tx, tenant, weight) {
      costOf(weight) // throws for one out of bounds
      tables.weights.set(tx, tenant, weight)
    },
    schedule: async (tx, schedule) =>
      announcing(tx, () => setSchedule(tx, tables, { schedule, nowMs: now() })),
    async unschedule(tx, name) {
      const wasThere = tables.schedules.get(name) !== undefined
      tables.schedules.delete(tx, name)
      return wasThere
    },
    schedules: () => read(() => structuredClone(tables.schedules.all().sort(by((one) => one.name)))),
    prune: (retention) => writing((tx) => pruneOld(tx, tables, { retention, nowMs: now() })),
    get: (id) =>
      read(() => {
        const row = tables.jobs.get(id)
        return row && { job: toJob(row), attempts: structuredClone(tables.attempts.get(id) ?? []) }
      }),
    list: ({ state, kind, after, limit }: JobFilter) =>
      read(() =>
        tables.jobs
          .all()
          .filter((one) => (state === undefined || one.state === state) && (kind ?? one.kind) === one.kind)
          .filter((one) => after === undefined || one.id < after)
          .sort(by((one) => one.id))
          .reverse()
          .slice(0, limit)
          .map(toJob),
      ),
    counts: () => read(counts),
    totals: () =>
      read(() =>
        tables.totals.all().sort(
          by(
            (one) => one.kind,
            (one) => one.name,
          ),
        ),
      ),
  }
}
