import type { Transaction } from '@garner/db'
import { type Job, type JobState, PENDING_STATES } from '../job.ts'
import { nextRank } from '../rank.ts'
import { type JobRow, toJob } from './rows.ts'
import * as sql from './sql.ts'

/** A tenant's standing: pending jobs of its own and in all, and its place in the fair order. */
export interface Backlog {
  total: number
  tenant: number
  virtualTime: number
  lastRank: number
}

/** What happens to jobs from outside their attempts: their subject moves on or goes, an operator repairs. */
interface Found {
  id: string
  kind: string
  tenant: string
  key: string | null
  state: JobState
  epoch: number
}

export async function supersedeJobs(
  tx: Transaction,
  { subject, version, nowMs }: { subject: string; version: number; nowMs: number },
): Promise<number> {
  const found = await tx.all<Found>(sql.PENDING_OF_SUBJECT, subject, version)
  for (const one of found) await endUnclaimed(tx, one, { state: 'superseded', nowMs, error: null })
  return found.length
}

export async function forgetJobs(tx: Transaction, query: string, of: string): Promise<number> {
  const found = await tx.all<Found>(query, of)
  for (const one of found) {
    await tx.run(sql.DELETE, one.id)
    await tx.run(sql.DELETE_ATTEMPTS, one.id)
    await tx.run(sql.DELETE_OPERATIONS, one.id)
    await leavePending(tx, one)
  }
  return found.length
}

export async function discardJob(tx: Transaction, id: string, nowMs: number): Promise<boolean> {
  const row = await tx.get<JobRow>(sql.ONE, id)
  if (!row || (row.state !== 'ready' && row.state !== 'dead')) return false
  await endUnclaimed(tx, row, { state: 'cancelled', nowMs, error: null })
  return true
}

/** @param assertRoom throws QueueFull when the tenant or the queue has no room for one more */
export async function repairJob(
  tx: Transaction,
  { id, nowMs, assertRoom }: { id: string; nowMs: number; assertRoom: (backlog: Backlog) => void },
): Promise<Job | undefined> {
  const row = await tx.get<JobRow>(sql.ONE, id)
  if (!row) return undefined
  if (row.state === 'ready') await tx.run(sql.MAKE_DUE, nowMs, id)
  else if (row.state !== 'running' && row.state !== 'superseded') {
    const backlog = (await tx.get<Backlog>(sql.BACKLOG, row.tenant))!
    assertRoom(backlog)
    const rank = nextRank(backlog)
    await tx.run(sql.TENANT_GAINS, row.tenant, rank)
    await tx.run(sql.QUEUE_GAINS)
    await tx.run(sql.NEW_GENERATION, rank, nowMs, nowMs, id)
  }
  return toJob((await tx.get<JobRow>(sql.ONE, id))!)
}

async function endUnclaimed(
  tx: Transaction,
  job: Found,
  { state, nowMs, error }: { state: JobState; nowMs: number; error: string | null },
): Promise<void> {
  await tx.run(sql.END_UNCLAIMED, state, nowMs, error, job.id)
  await tx.run(sql.ATTEMPT_ENDS, nowMs, state, error, job.id, job.epoch)
  await tx.run(sql.TOTAL, job.kind, `finished:${state}`)
  await leavePending(tx, job)
}

async function leavePending(tx: Transaction, job: Found): Promise<void> {
  if (!PENDING_STATES.includes(job.state)) return
  await tx.run(sql.TENANT_LOSES, job.tenant)
  await tx.run(sql.QUEUE_LOSES)
  if (job.key !== null) await tx.run(sql.FREE_KEY, job.kind, job.key)
}
