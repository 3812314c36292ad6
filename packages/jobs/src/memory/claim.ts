import type { Claim } from '../job.ts'
import { returningRank } from '../rank.ts'
import type { ClaimKind, ClaimRequest } from '../store.ts'
import { fireSchedules } from './schedules.ts'
import type { Acceptance } from './submit.ts'
import { by, type JobRow, keyOf, type Tables, toJob } from './tables.ts'
import type { MemoryTransaction } from './transaction.ts'

/**
 * One claim: what may be done again comes back first (leases that have run out, waiting times that are over), so
 * does what is scheduled; then the due jobs are taken in their order, each one if its kind and key have room. Only
 * the asked kinds are touched, and none that is paused.
 */
export function claimDue(
  tx: MemoryTransaction,
  tables: Tables,
  { worker, limit, leaseMs, kinds }: ClaimRequest,
  acceptance: Acceptance,
): Claim[] {
  const { nowMs } = acceptance
  if (limit < 1) return []
  const open = new Map(kinds.filter((one) => !tables.isPaused(one.kind, nowMs)).map((one) => [one.kind, one]))
  returnExpired(tx, tables, open, nowMs)
  takeBack(tx, tables, open, nowMs)
  fireSchedules(tx, tables, open, acceptance)

  const candidates = tables.jobs
    .all()
    .filter((one) => one.state === 'ready' && !one.isAside && open.has(one.kind))
    .sort(inOrder)
  const running = new RunningCounts(tables)
  const claims: Claim[] = []
  for (const one of candidates) {
    if (claims.length === limit) break
    const limits = open.get(one.kind)!
    if (!hasRoom(tables, running, { job: one, limits, nowMs })) continue
    claims.push(startAttempt(tx, tables, one, { worker, leaseMs, nowMs }))
    running.add(one)
    if (one.key !== null && limits.spacingMs) {
      tables.nextStarts.set(tx, keyOf(one.kind, one.key), nowMs + limits.spacingMs)
    }
  }
  return claims
}

type OpenKinds = ReadonlyMap<string, ClaimKind>

/** Their attempts are gone without a word. */
function returnExpired(tx: MemoryTransaction, tables: Tables, open: OpenKinds, nowMs: number): void {
  for (const one of tables.jobs.all()) {
    if (one.state !== 'running' || one.leaseUntilMs! > nowMs || !open.has(one.kind)) continue
    tables.patch(tx, one, { state: 'ready', isAside: true, leaseUntilMs: null, lastError: 'lease_expired' })
    tables.endAttempt(tx, one, { endedAtMs: nowMs, outcome: 'lease_expired', error: 'lease_expired' })
  }
}

/** Back into the line: those of one tenant and priority one behind the other. */
function takeBack(tx: MemoryTransaction, tables: Tables, open: OpenKinds, nowMs: number): void {
  const places = new Map<string, number>()
  const due = tables.jobs
    .all()
    .filter((one) => one.state === 'ready' && one.isAside && one.runAtMs <= nowMs && open.has(one.kind))
    .sort(
      by(
        (one) => one.runAtMs,
        (one) => one.id,
      ),
    )
  for (const one of due) {
    const line = keyOf(one.tenant, one.priority)
    const place = (places.get(line) ?? 0) + 1
    places.set(line, place)
    const { virtualTime, weight } = tables.backlog(one)
    const rank = returningRank({ rank: one.rank, virtualTime, weight, place })
    tables.patch(tx, one, { isAside: false, rank })
  }
}

function hasRoom(
  tables: Tables,
  running: RunningCounts,
  { job, limits, nowMs }: { job: JobRow; limits: ClaimKind; nowMs: number },
): boolean {
  const { concurrency = Number.POSITIVE_INFINITY, perKey = Number.POSITIVE_INFINITY, spacingMs } = limits
  if (running.ofKind(job) >= concurrency) return false
  if (job.key === null) return true
  const nextStartMs = tables.nextStarts.get(keyOf(job.kind, job.key)) ?? 0
  return running.ofKey(job) < perKey && !(spacingMs && nextStartMs > nowMs)
}

function startAttempt(
  tx: MemoryTransaction,
  tables: Tables,
  job: JobRow,
  { worker, leaseMs, nowMs }: { worker: string; leaseMs: number; nowMs: number },
): Claim {
  const { epoch, attempt } = { epoch: job.epoch + 1, attempt: job.attempt + 1 }
  const row = tables.patch(tx, job, { state: 'running', epoch, attempt, leaseUntilMs: nowMs + leaseMs })
  const { id, generation, priority, rank } = row
  const started = { generation, attempt, epoch, worker, startedAtMs: nowMs }
  const records = tables.attempts.get(id) ?? []
  tables.attempts.set(tx, id, [...records, { ...started, endedAtMs: null, outcome: null, error: null }])
  tables.virtualTimes.set(tx, keyOf(priority), Math.max(tables.virtualTime(priority), rank))
  return { job: toJob(row), epoch, claimedAtMs: nowMs }
}

/** How many jobs of a kind, and of each of its keys, run. */
class RunningCounts {
  readonly #counts = new Map<string, number>()

  constructor(tables: Tables) {
    for (const one of tables.jobs.all()) if (one.state === 'running') this.add(one)
  }

  add({ kind, key }: JobRow): void {
    for (const of of key === null ? [keyOf(kind)] : [keyOf(kind), keyOf(kind, key)]) {
      this.#counts.set(of, (this.#counts.get(of) ?? 0) + 1)
    }
  }

  ofKind({ kind }: JobRow): number {
    return this.#counts.get(keyOf(kind)) ?? 0
  }

  ofKey({ kind, key }: JobRow): number {
    return this.#counts.get(keyOf(kind, key!)) ?? 0
  }
}

const inOrder = by<JobRow>(
  (one) => one.priority,
  (one) => one.rank,
  (one) => one.id,
)
