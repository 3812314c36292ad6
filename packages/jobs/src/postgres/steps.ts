import type { Transaction } from '@garner/db'
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
import { json } from './rows.ts'
import * as sql from './sql.ts'

type Opener = Pick<Claim, 'job' | 'epoch'>

/** A step with what only the store needs to know of it. */
interface Step extends StepRecord {
  jobId: string
  tenant: string
}

type StepRow = Omit<StepRecord, 'result'> & { result: string | null }

/**
 * What stands in the way of a part of a job's work; if nothing does and it costs, its use is counted (J7). The job's row
 * is locked first, the allowance's last: no other attempt can take over in between, and racing openings meet at the
 * allowance one after the other.
 */
export async function openStep(
  tx: Transaction,
  {
    claim,
    step: { name, use, evenIfUnknown = false },
    nowMs,
  }: { claim: Opener; step: StepOpening; nowMs: number },
): Promise<StepStanding> {
  const { id: jobId, kind } = claim.job
  const job = await tx.get<{ tenant: string; state: JobState; epoch: number }>(sql.OPENER, jobId)
  if (job?.state !== 'running' || job.epoch !== claim.epoch) return lost(tx, kind)
  const { tenant } = job
  let step = await stepOf(tx, { jobId, name, tenant })
  // Its attempt is gone and left no id: billed or not, nobody knows.
  if (step?.state === 'reserved' && step.epoch !== claim.epoch) {
    step = await changeStep(tx, step, { state: 'unknown', changedAtMs: nowMs })
  }
  const standing = standingOf(step, { epoch: claim.epoch, evenIfUnknown })
  if (standing) return standing
  if (!use) return { state: 'open' }

  const { allowance, limit, per } = use
  const period = periodOf(nowMs, per)
  const uses = (await tx.get<Omit<Allowance, 'resetsAtMs'>>(sql.LOCK_USES, tenant, allowance, period))!
  if (!hasRoomFor(uses, limit)) return { state: 'exhausted', limit, resetsAtMs: periodEndsAtMs(nowMs, per) }
  const reserved: Step = {
    ...{
      jobId,
      tenant,
      name,
      state: 'reserved',
      epoch: claim.epoch,
      allowance,
      period,
      uses: (step?.uses ?? 0) + 1,
    },
    ...{ providerId: null, result: null, openedAtMs: nowMs, changedAtMs: nowMs },
  }
  await keep(tx, reserved)
  await count(tx, reserved, 1)
  return { state: 'open' }
}

/** What became of a step: fenced on the epoch alone, since the money is spent either way. */
export async function recordStep(
  tx: Transaction,
  { claim, name, change, nowMs }: { claim: Opener; name: string; change: StepChange; nowMs: number },
): Promise<'stored' | 'lost'> {
  const { id: jobId, kind } = claim.job
  const job = await tx.get<{ tenant: string; epoch: number }>(sql.OPENER, jobId)
  if (job?.epoch !== claim.epoch) return (await lost(tx, kind)).state
  const { tenant } = job
  const step = await stepOf(tx, { jobId, name, tenant })
  if (step && !isNews(step, change)) return 'stored'
  const { state } = change
  const said = {
    ...{ state, epoch: claim.epoch, changedAtMs: nowMs },
    ...('providerId' in change && { providerId: change.providerId }),
    ...('result' in change && { result: change.result }),
  }
  if (step) await changeStep(tx, step, said)
  else if (state !== 'refunded') {
    const free = { allowance: null, period: null, providerId: null, result: null, uses: 0 }
    await keep(tx, { jobId, tenant, name, ...free, openedAtMs: nowMs, ...said })
  }
  return 'stored'
}

async function lost(tx: Transaction, kind: string): Promise<{ state: 'lost' }> {
  await tx.get(sql.COUNT, kind, 'stale_publications')
  return { state: 'lost' }
}

async function stepOf(
  tx: Transaction,
  { jobId, name, tenant }: { jobId: string; name: string; tenant: string },
): Promise<Step | undefined> {
  const row = await tx.get<StepRow>(sql.STEP, jobId, name)
  return row && { ...toStep(row), jobId, tenant }
}

/** Writes some fields of a step; its use moves to where its new state is counted. */
async function changeStep(
  tx: Transaction,
  step: Step,
  fields: Pick<Step, 'state'> & Partial<Step>,
): Promise<Step> {
  const changed = { ...step, ...fields }
  await keep(tx, changed)
  await count(tx, step, -1)
  await count(tx, changed, 1)
  return changed
}

async function keep(tx: Transaction, step: Step): Promise<void> {
  const { jobId, name, state, epoch, tenant, allowance, period, providerId, uses } = step
  // Null is a result too: it is there once the step is settled.
  const result = state === 'settled' ? JSON.stringify(step.result) : null
  await tx.run(
    sql.KEEP_STEP,
    ...[jobId, name, state, epoch, tenant, allowance, period, providerId, result, uses],
    ...[step.openedAtMs, step.changedAtMs],
  )
}

/** Adds a step's use to where its state is counted, or takes it from there; free steps are counted nowhere. */
async function count(tx: Transaction, { tenant, allowance, period, state }: Step, by: 1 | -1): Promise<void> {
  const name = countOf(state)
  if (allowance === null || period === null || name === null) return
  const counts = { used: 0, reserved: 0, unknown: 0, [name]: by }
  await tx.run(sql.COUNT_USE, ...[tenant, allowance, period, counts.used, counts.reserved, counts.unknown])
}

export function toStep({ result, ...row }: StepRow): StepRecord {
  return { ...row, result: json(result) }
}

export function allowanceAt(
  nowMs: number,
  uses: Omit<Allowance, 'resetsAtMs'> | undefined,
  per: AllowanceUse['per'],
): Allowance {
  const { used, reserved, unknown } = uses ?? { used: 0, reserved: 0, unknown: 0 }
  return { used, reserved, unknown, resetsAtMs: periodEndsAtMs(nowMs, per) }
}
