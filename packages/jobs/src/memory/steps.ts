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
import type { Claim } from '../job.ts'
import type { StepChange, StepOpening } from '../store.ts'
import { keyOf, type StepRow, type Tables, type Uses } from './tables.ts'
import type { MemoryTransaction } from './transaction.ts'

type Opener = Pick<Claim, 'job' | 'epoch'>

const NO_USES: Uses = { used: 0, reserved: 0, unknown: 0 }

/** What stands in the way of a part of a job's work; if nothing does and it costs, its use is counted (J7). */
export function openStep(
  tx: MemoryTransaction,
  tables: Tables,
  {
    claim,
    step: { name, use, evenIfUnknown = false },
    nowMs,
  }: {
    claim: Opener
    step: StepOpening
    nowMs: number
  },
): StepStanding {
  const { id: jobId, kind } = claim.job
  const job = tables.jobs.get(jobId)
  if (job?.state !== 'running' || job.epoch !== claim.epoch) {
    tables.addToTotal(tx, kind, 'stale_publications')
    return { state: 'lost' }
  }
  const found = tables.steps.get(keyOf(jobId, name))
  // Its attempt is gone and left no id: billed or not, nobody knows.
  const isOrphan = found?.state === 'reserved' && found.epoch !== claim.epoch
  const step = isOrphan ? changeStep(tx, tables, found, { state: 'unknown', changedAtMs: nowMs }) : found
  const standing = standingOf(step, { epoch: claim.epoch, evenIfUnknown })
  if (standing) return structuredClone(standing)
  if (!use) return { state: 'open' }

  const { allowance, limit, per } = use
  const { tenant } = job
  const period = periodOf(nowMs, per)
  if (!hasRoomFor(usesOf(tables, { tenant, allowance, period }), limit)) {
    return { state: 'exhausted', limit, resetsAtMs: periodEndsAtMs(nowMs, per) }
  }
  const uses = (step?.uses ?? 0) + 1
  const reserved: StepRow = {
    ...{ jobId, tenant, name, state: 'reserved', epoch: claim.epoch, allowance, period, uses },
    ...{ providerId: null, result: null, openedAtMs: nowMs, changedAtMs: nowMs },
  }
  tables.steps.set(tx, keyOf(jobId, name), reserved)
  count(tx, tables, reserved, 1)
  return { state: 'open' }
}

/** What became of a step: fenced on the epoch alone, since the money is spent either way. */
export function recordStep(
  tx: MemoryTransaction,
  tables: Tables,
  { claim, name, change, nowMs }: { claim: Opener; name: string; change: StepChange; nowMs: number },
): 'stored' | 'lost' {
  const { id: jobId, kind } = claim.job
  const job = tables.jobs.get(jobId)
  if (job?.epoch !== claim.epoch) {
    tables.addToTotal(tx, kind, 'stale_publications')
    return 'lost'
  }
  const step = tables.steps.get(keyOf(jobId, name))
  if (step && !isNews(step, change)) return 'stored'
  const { state } = change
  const said = {
    ...{ state, epoch: claim.epoch, changedAtMs: nowMs },
    ...('providerId' in change && { providerId: change.providerId }),
    ...('result' in change && { result: structuredClone(change.result) }),
  }
  if (step) changeStep(tx, tables, step, said)
  else if (state !== 'refunded') {
    const free = { allowance: null, period: null, providerId: null, result: null, uses: 0 }
    const row = { jobId, tenant: job.tenant, name, ...free, openedAtMs: nowMs, ...said }
    tables.steps.set(tx, keyOf(jobId, name), row)
  }
  return 'stored'
}

/** Writes some fields of a step; its use moves to where its new state is counted. */
function changeStep(
  tx: MemoryTransaction,
  tables: Tables,
  step: StepRow,
  fields: Pick<StepRow, 'state'> & Partial<StepRow>,
): StepRow {
  const changed = { ...step, ...fields }
  tables.steps.set(tx, keyOf(step.jobId, step.name), changed)
  count(tx, tables, step, -1)
  count(tx, tables, changed, 1)
  return changed
}

/** Adds a step's use to where its state is counted, or takes it from there; free steps are counted nowhere. */
function count(tx: MemoryTransaction, tables: Tables, step: StepRow, by: 1 | -1): void {
  const { tenant, allowance, period } = step
  const name = countOf(step.state)
  if (allowance === null || period === null || name === null) return
  const uses = usesOf(tables, { tenant, allowance, period })
  tables.allowances.set(tx, keyOf(tenant, allowance, period), { ...uses, [name]: uses[name] + by })
}

function usesOf(tables: Tables, of: { tenant: string; allowance: string; period: string }): Uses {
  return tables.allowances.get(keyOf(of.tenant, of.allowance, of.period)) ?? NO_USES
}

export function stepsOf(tables: Tables, jobId: string): StepRecord[] {
  return tables.steps
    .all()
    .filter((one) => one.jobId === jobId)
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ jobId: _, tenant: __, ...record }) => structuredClone(record))
}

export function allowanceOf(
  tables: Tables,
  {
    tenant,
    allowance,
    per,
    nowMs,
  }: {
    tenant: string
    allowance: string
    per: AllowanceUse['per']
    nowMs: number
  },
): Allowance {
  const uses = usesOf(tables, { tenant, allowance, period: periodOf(nowMs, per) })
  return { ...uses, resetsAtMs: periodEndsAtMs(nowMs, per) }
}
