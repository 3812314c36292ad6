import type { Transaction } from '@garner/db'
import type { Claim } from '../job.ts'
import type { ClaimRequest } from '../store.ts'
import { type JobRow, toJob } from './rows.ts'
import * as sql from './sql.ts'

interface Candidate {
  id: string
  kind: string
  key: string | null
  rank: number
}

/**
 * One claim, in one transaction: leases that have run out and holds that are over come back first, then the due
 * jobs are taken in order of rank.
 *
 * A job whose key has no room is put aside (hold 2) instead of being passed over at each claim: it leaves the
 * index that claims look at, and comes back when a job of its key leaves `running` (FREE_KEY). So each job is
 * put aside and brought back a few times at most, and a site with 10,000 waiting links costs others nothing.
 * Cut anywhere: the transaction is there whole or not at all; claims that nobody hears of run out by their lease.
 */
export async function claimDue(tx: Transaction, request: ClaimRequest, nowMs: number): Promise<Claim[]> {
  const { virtualTime } = (await tx.get<{ virtualTime: number }>(sql.VIRTUAL_TIME))!
  await returnExpired(tx, { virtualTime, nowMs })
  await tx.run(sql.RELEASE_DUE, virtualTime, nowMs)

  const perKey = new Map(request.kinds.map((one) => [one.kind, one.perKey ?? Number.POSITIVE_INFINITY]))
  const kinds = JSON.stringify([...perKey.keys()])
  const claims: Claim[] = []
  while (claims.length < request.limit) {
    const wanted = request.limit - claims.length
    const candidates = await tx.all<Candidate>(sql.CLAIMABLE, kinds, wanted)
    for (const one of candidates) {
      if (await hasRoom(tx, one, perKey.get(one.kind)!)) claims.push(await claimOne(tx, one, request, nowMs))
      else await tx.run(sql.HOLD_BY_KEY, one.id)
    }
    if (candidates.length < wanted) break
  }
  const newest = claims.at(-1)
  if (newest) await tx.run(sql.ADVANCE_VIRTUAL_TIME, newest.job.rank)
  return claims
}

async function returnExpired(
  tx: Transaction,
  { virtualTime, nowMs }: { virtualTime: number; nowMs: number },
): Promise<void> {
  const over = await tx.all<{ id: string; kind: string; key: string | null; epoch: number }>(
    sql.LEASES_OVER,
    nowMs,
  )
  for (const one of over) {
    await tx.run(sql.LEASE_OVER, virtualTime, one.id, one.epoch)
    await tx.run(sql.ATTEMPT_ENDS, nowMs, 'lease_expired', 'lease_expired', one.id, one.epoch)
    if (one.key !== null) await tx.run(sql.FREE_KEY, one.kind, one.key)
  }
}

async function hasRoom(tx: Transaction, { kind, key }: Candidate, perKey: number): Promise<boolean> {
  if (key === null || perKey === Number.POSITIVE_INFINITY) return true
  const running = (await tx.get<{ n: number }>(sql.RUNNING_OF_KEY, kind, key))!.n
  return running < perKey
}

async function claimOne(
  tx: Transaction,
  { id }: Candidate,
  { worker, leaseMs }: ClaimRequest,
  nowMs: number,
): Promise<Claim> {
  const job = toJob((await tx.get<JobRow>(sql.CLAIM, nowMs + leaseMs, id))!)
  await tx.run(sql.ATTEMPT_STARTS, job.id, job.epoch, job.generation, job.attempt, worker, nowMs)
  return { job, epoch: job.epoch }
}
