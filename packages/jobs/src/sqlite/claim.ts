import type { SyncStatements } from '@garner/db/sqlite'
import { InvariantBroken } from '../errors.ts'
import type { Claim, Job } from '../job.ts'
import type { ClaimKind, ClaimRequest } from '../store.ts'
import { fireSchedules } from './firing.ts'
import type { Intake } from './intake.ts'
import type { Ledger } from './ledger.ts'
import { returnWaiting } from './returning.ts'
import { Room } from './room.ts'
import { type JobCells, toJob } from './rows.ts'
import * as sql from './sql.ts'
import { type KindStanding, standingOf } from './standing.ts'

/** What a claim works with, in its one transaction. */
export interface ClaimDesk {
  ledger: Ledger
  intake: Intake
  nowMs: number
}

/** A kind that is asked for and not paused: its limits, and what of it waits for what. */
export interface OpenKind {
  limits: ClaimKind
  standing: KindStanding
}

/**
 * One claim, in one transaction: schedules fire, leases that have run out and waits that are over come back, then
 * the due jobs are taken in their order.
 *
 * A job whose key has no room is put aside (hold 2) instead of being passed over at each claim: it leaves the
 * index that claims look at, and comes back when a job of its key leaves `running`, or when the key's time has come.
 * So each job is put aside and brought back a few times at most, and a site with 10,000 waiting links costs others
 * nothing. A kind that is full is not asked for at all.
 * Cut anywhere: the transaction is there whole or not at all; claims that nobody hears of run out by their lease.
 */
export function claimDue(db: SyncStatements, request: ClaimRequest, desk: ClaimDesk): Claim[] {
  const { ledger, intake, nowMs } = desk
  const limits = new Map(request.kinds.map((one) => [one.kind, one]))
  const kinds = standingOf(db, [...limits.keys()], nowMs).map((standing): OpenKind => {
    return { limits: limits.get(standing.kind)!, standing }
  })
  fireSchedules(db, kinds, desk)
  returnWaiting(db, kinds, desk)
  intake.write()
  ledger.write() // from here on the tables say how many run, and whose keys are free

  const room = new Room(db, nowMs)
  let open = kinds.map((one) => one.limits)
  const claims: Claim[] = []
  while (claims.length < request.limit) {
    open = open.filter((one) => room.ofKind(one))
    if (open.length === 0) break
    const wanted = request.limit - claims.length
    const names = open.map((one) => one.kind)
    const found = db.rows<JobCells>(sql.candidates(names.length), ...names, wanted)
    for (const job of start(db, takeIn(db, found, { limits, room }), { request, nowMs })) {
      ledger.moved(job, 'ready', 'running')
      claims.push({ job, epoch: job.epoch, claimedAtMs: nowMs })
    }
    if (found.length < wanted) break
  }
  advanceVirtualTimes(db, claims)
  ledger.write()
  return claims
}

/** Those of the candidates that there is room for; those whose key has none are put aside. */
function takeIn(
  db: SyncStatements,
  found: JobCells[],
  { limits, room }: { limits: Map<string, ClaimKind>; room: Room },
): JobCells[] {
  const taken: JobCells[] = []
  const aside: number[] = []
  for (const cells of found) {
    const [seq, , kind, , , , , key] = cells
    const ofKind = limits.get(kind)!
    if (!room.ofKind(ofKind)) continue
    if (key !== null && !room.ofKey(ofKind, key)) aside.push(seq)
    else {
      room.take(ofKind, key)
      taken.push(cells)
    }
  }
  if (aside.length > 0) db.run(sql.HOLD_BY_KEY, JSON.stringify(aside))
  return taken
}

/** Starts an attempt on each; answers the jobs as they are now. */
function start(
  db: SyncStatements,
  taken: JobCells[],
  { request: { worker, leaseMs }, nowMs }: { request: ClaimRequest; nowMs: number },
): Job[] {
  if (taken.length === 0) return []
  const leaseUntilMs = nowMs + leaseMs
  const seqs = JSON.stringify(taken.map(([seq]) => seq))
  const { changes } = db.run(sql.CLAIM, leaseUntilMs, worker, nowMs, seqs)
  if (changes !== taken.length) {
    throw new InvariantBroken(`${taken.length} jobs were due, ${changes} of them could be claimed.`)
  }
  // The statement's own arithmetic, done again here: to have the rows returned would cost a third more.
  return taken.map((cells) => {
    const job = toJob(cells)
    job.state = 'running'
    job.epoch++
    job.attempt++
    job.leaseUntilMs = leaseUntilMs
    return job
  })
}

function advanceVirtualTimes(db: SyncStatements, claims: Claim[]): void {
  const highest = new Map<number, number>()
  for (const { job } of claims) highest.set(job.priority, Math.max(job.rank, highest.get(job.priority) ?? 0))
  for (const [priority, rank] of highest) db.run(sql.ADVANCE_VIRTUAL_TIME, priority, rank)
}
