import type { SyncStatements } from '@garner/db/sqlite'
import {
  type Allowance,
  type AllowanceUse,
  countOf,
  hasRoomFor,
  isNews,
  periodEndsAtMs,
  periodOf,
  type StepRecord,
  type StepStanding,
  standingOf,
} from '../allowance.ts'
import type { Claim, JobState } from '../job.ts'
import type { StepChange, StepOpening } from '../store.ts'
import type { Ledger } from './ledger.ts'
import { fromText, toText } from './rows.ts'
import * as sql from './sql.ts'

type Opener = Pick<Claim, 'job' | 'epoch'>
export type Uses = Pick<Allowance, 'used' | 'reserved' | 'unknown'>

export interface StepRow extends Omit<StepRecord, 'result'> {
  result: string | null
}

interface Desk {
  ledger: Ledger
  nowMs: number
}

/**
 * What stands in the way of a part of a job's work; if nothing does and it costs, its use is counted, together with
 * the step (J7). Killed before the commit: neither is there, and nothing was called. Killed after it, before the call
 * or in it: the step is reserved, and the next attempt finds it so; whether it was billed, nobody knows.
 */
export function openStep(
  db: SyncStatements,
  { claim, step: { name, use, evenIfUnknown = false } }: { claim: Opener; step: StepOpening },
  { ledger, nowMs }: Desk,
): StepStanding {
  const { id: jobId, kind } = claim.job
  const job = claimed(db, jobId)
  if (job?.state !== 'running' || job.epoch !== claim.epoch) {
    ledger.count('stale_publications', kind)
    return { state: 'lost' }
  }
  const { tenant } = job
  let step = storedStep(db, jobId, name)
  if (step?.state === 'reserved' && step.epoch !== claim.epoch) {
    step = changeStep(db, { jobId, tenant, step, change: { state: 'unknown', changedAtMs: nowMs } })
  }
  const standing = standingOf(step, { epoch: claim.epoch, evenIfUnknown })
  if (standing) return standing
  if (!use) return { state: 'open' }

  const { allowance, limit, per } = use
  const period = periodOf(nowMs, per)
  if (!hasRoomFor(usesOf(db, { tenant, allowance, period }), limit)) {
    return { state: 'exhausted', limit, resetsAtMs: periodEndsAtMs(nowMs, per) }
  }
  const reserved: StepRecord = {
    ...{ name, state: 'reserved', epoch: claim.epoch, allowance, period, uses: (step?.uses ?? 0) + 1 },
    ...{ providerId: null, result: null, openedAtMs: nowMs, changedAtMs: nowMs },
  }
  storeStep(db, jobId, tenant, reserved)
  count(db, tenant, reserved, 1)
  return { state: 'open' }
}

/** What became of a step: fenced on the epoch alone, since the money is spent either way. */
export function recordStep(
  db: SyncStatements,
  { claim, name, change }: { claim: Opener; name: string; change: StepChange },
  { ledger, nowMs }: Desk,
): 'stored' | 'lost' {
  const { id: jobId, kind } = claim.job
  const job = claimed(db, jobId)
  if (job?.epoch !== claim.epoch) {
    ledger.count('stale_publications', kind)
    return 'lost'
  }
  const { tenant } = job
  const step = storedStep(db, jobId, name)
  if (step && !isNews(step, change)) return 'stored'
  const said = {
    ...{ state: change.state, epoch: claim.epoch, changedAtMs: nowMs },
    ...('providerId' in change && { providerId: change.providerId }),
    ...('result' in change && { result: change.result }),
  }
  if (step) changeStep(db, { jobId, tenant, step, change: said })
  else if (change.state !== 'refunded') {
    const free = { allowance: null, period: null, providerId: null, result: null, uses: 0, openedAtMs: nowMs }
    storeStep(db, jobId, tenant, { name, ...free, ...said })
  }
  return 'stored'
}

export function toStep(row: StepRow): StepRecord {
  return { ...row, result: fromText(row.result) }
}

/** How much is used of an allowance in the period that `nowMs` is in. `uses` reads the row of a period, if any. */
export function allowanceOf(
  uses: Uses | undefined,
  { per, nowMs }: { per: AllowanceUse['per']; nowMs: number },
): Allowance {
  return { ...(uses ?? NO_USES), resetsAtMs: periodEndsAtMs(nowMs, per) }
}

const NO_USES: Uses = { used: 0, reserved: 0, unknown: 0 }

function claimed(db: SyncStatements, id: string) {
  return db.get<{ state: JobState; epoch: number; tenant: string }>(sql.CLAIMED, id)
}

function storedStep(db: SyncStatements, jobId: string, name: string): StepRecord | undefined {
  const row = db.get<StepRow>(sql.ONE_STEP, jobId, name)
  return row && toStep(row)
}

/** Writes some fields of a step; its use moves to where its new state is counted. */
function changeStep(
  db: SyncStatements,
  {
    jobId,
    tenant,
    step,
    change,
  }: { jobId: string; tenant: string; step: StepRecord; change: Partial<StepRecord> },
): StepRecord {
  const changed = { ...step, ...change }
  storeStep(db, jobId, tenant, changed)
  count(db, tenant, step, -1)
  count(db, tenant, changed, 1)
  return changed
}

function storeStep(db: SyncStatements, jobId: string, tenant: string, step: StepRecord): void {
  const { name, state, epoch, allowance, period, providerId, result, uses, openedAtMs, changedAtMs } = step
  db.run(
    sql.STORE_STEP,
    ...[jobId, name, tenant, state, epoch, allowance, period, providerId],
    ...[toText(result), uses, openedAtMs, changedAtMs],
  )
}

/** Adds a step's use to where its state is counted, or takes it from there; free steps are counted nowhere. */
function count(
  db: SyncStatements,
  tenant: string,
  { state, allowance, period }: StepRecord,
  by: 1 | -1,
): void {
  const name = countOf(state)
  if (allowance === null || period === null || name === null) return
  const uses: Uses = { ...NO_USES, [name]: by }
  db.run(sql.COUNT_USES, tenant, allowance, period, uses.used, uses.reserved, uses.unknown)
}

function usesOf(db: SyncStatements, of: { tenant: string; allowance: string; period: string }): Uses {
  return db.get<Uses>(sql.USES, of.tenant, of.allowance, of.period) ?? NO_USES
}
