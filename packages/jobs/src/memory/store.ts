import type { Clock } from '@garner/db'
import { OperationConflict, QueueFull } from '../errors.ts'
import type { Claim } from '../job.ts'
import { payloadHash } from '../payload-hash.ts'
import { type Bounds, brokenBound, nextRank } from '../rank.ts'
import type { ClaimRequest, JobCounts, JobFilter, JobStore, Submission } from '../store.ts'
import { claimDue } from './claim.ts'
import { discardJob, forgetJobs, repairJob, supersedeJobs } from './lifecycle.ts'
import { LeaseRanOut, publishClaim } from './publish.ts'
import { isPending, type JobRow, keyOf, Tables, toJob } from './tables.ts'
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
  const now = () => clock.nowMs()
  const transaction = <T>(work: (tx: MemoryTransaction) => Promise<T>) =>
    turns.take(() => MemoryTransaction.run(work))
  /** Reads take their turn too, so that they never see what may yet be undone. */
  const read = <T>(look: () => T) => turns.take(async () => look())

  function assertRoom(tenant: string): void {
    const pending = tables.jobs.all().filter(isPending)
    const ofTenant = pending.filter((one) => one.tenant === tenant)
    const broken = brokenBound({ tenant: ofTenant.length, total: pending.length }, bounds)
    if (broken) throw new QueueFull({ ...broken, retryAfterMs })
  }

  async function submit(tx: MemoryTransaction, submission: Submission) {
    const { id, kind, tenant, payload, operationId, deadlineMs } = submission
    const hash = payloadHash(payload)
    if (operationId !== undefined) {
      const known = tables.operations.get(keyOf(tenant, operationId))
      if (known && known.payloadHash !== hash) throw new OperationConflict(operationId)
      if (known) return { job: toJob(tables.jobs.get(known.jobId)!), isRepeat: true }
    }

    // From here on nothing is written before nothing can be refused.
    if (tables.jobs.get(id)) throw new Error(`There is a job ${id} already; ids are given once.`)
    assertRoom(tenant)

    const nowMs = now()
    const runAtMs = submission.runAtMs ?? nowMs
    const rank = nextRank({
      virtualTime: tables.virtualTime,
      lastRank: tables.lastRanks.get(tenant) ?? 0,
    })
    const row: JobRow = {
      id,
      kind,
      tenant,
      payload: structuredClone(payload),
      subject: submission.subject ?? null,
      subjectVersion: submission.subjectVersion ?? null,
      key: submission.key ?? null,
      state: 'ready',
      hold: runAtMs > nowMs ? 'time' : null,
      rank,
      runAtMs,
      attempt: 0,
      epoch: 0,
      generation: 1,
      leaseUntilMs: null,
      submittedAtMs: nowMs,
      deadlineMs,
      deadlineAtMs: nowMs + deadlineMs,
      finishedAtMs: null,
      lastError: null,
      result: null,
    }
    tables.jobs.set(tx, id, row)
    tables.lastRanks.set(tx, tenant, rank)
    if (operationId !== undefined) {
      const atKey = keyOf(tenant, operationId)
      tables.operations.set(tx, atKey, { payloadHash: hash, jobId: id, atKey })
    }
    return { job: toJob(row), isRepeat: false }
  }

  function nextDueInMs(): number | null {
    const instants = tables.jobs.all().flatMap((one) => {
      if (one.state === 'running') return [one.leaseUntilMs!]
      if (one.state === 'ready' && one.hold === null) return [0]
      return one.state === 'ready' && one.hold === 'time' ? [one.runAtMs] : []
    })
    return instants.length === 0 ? null : Math.max(0, Math.min(...instants) - now())
  }

  function heartbeat(tx: MemoryTransaction, { job, epoch }: Pick<Claim, 'job' | 'epoch'>, leaseMs: number) {
    const row = tables.jobs.get(job.id)
    if (row?.state !== 'running' || row.epoch !== epoch || row.leaseUntilMs! <= now()) return 'lost'
    tables.patch(tx, row, { leaseUntilMs: now() + leaseMs })
    return 'extended'
  }

  function counts(): JobCounts[] {
    const found = new Map<string, JobCounts>()
    for (const { kind, state, runAtMs } of tables.jobs.all()) {
      const entry = found.get(keyOf(kind, state)) ?? { kind, state, count: 0, oldestDueMs: null }
      const dueForMs = now() - runAtMs
      if (state === 'ready' && dueForMs >= 0) entry.oldestDueMs = Math.max(entry.oldestDueMs ?? 0, dueForMs)
      found.set(keyOf(kind, state), { ...entry, count: entry.count + 1 })
    }
    return [...found.values()].sort(by((one) => keyOf(one.kind, one.state)))
  }

  return {
    transaction,
    submit,
    claim: (request: ClaimRequest) => transaction(async (tx) => claimDue(tx, tables, request, now())),
    nextDueInMs: () => read(nextDueInMs),
    heartbeat: (claims, leaseMs) =>
      transaction(async (tx) => claims.map((one) => heartbeat(tx, one, leaseMs))),
    async publish(claim, ending, write) {
      const attempt = () => transaction((tx) => publishClaim(tx, tables, { claim, ending, now, write }))
      try {
        return await attempt()
      } catch (error) {
        if (error instanceof LeaseRanOut) return attempt() // all undone; now it is refused and counted
        throw error
      }
    },
    supersede: async (tx, { subject, version }) =>
      supersedeJobs(tx, tables, { subject, version, nowMs: now() }),
    forget: async (tx, subject) => forgetJobs(tx, tables, (one) => one.subject === subject),
    forgetTenant: async (tx, tenant) =>
      forgetJobs(tx, tables, (one) => one.tenant === tenant && (isPending(one) || one.state === 'dead')),
    repair: async (tx, id, { isBounded = false } = {}) => {
      const row = repairJob(tx, tables, { id, nowMs: now(), assertRoom: isBounded ? assertRoom : () => {} })
      return row && toJob(row)
    },
    discard: async (tx, id) => discardJob(tx, tables, id, now()),
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
    totals: () => read(() => tables.totals.all().sort(by((one) => keyOf(one.kind, one.name)))),
  }
}

function by<Row>(key: (row: Row) => string): (a: Row, b: Row) => number {
  return (a, b) => (key(a) < key(b) ? -1 : 1)
}
