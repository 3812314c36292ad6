import type { Json } from './job.ts'

/**
 * Paid steps and the quota they are paid from (J7). A step is recorded before the call, so a crash cannot hide a
 * bill; its result is stored before anything else happens, so a redo finds it instead of calling again.
 *
 * `open` → `reserved` → `submitted` (the provider's id is known: a crash resumes by it) → `settled`
 *                     ↘ `refunded` (the provider did not bill; may be opened anew)
 *                     ↘ `unknown` (the attempt that reserved it is gone and left no id: billed or not, nobody knows)
 */
export type StepState = 'reserved' | 'submitted' | 'settled' | 'refunded' | 'unknown'

/** One use of a tenant's quota, said at each opening; the limit may differ from one call to the next. */
export interface AllowanceUse {
  /** The quota's name, such as `vision`. */
  allowance: string
  /** Most uses of one tenant in a period, those in flight and unknown included. */
  limit: number
  /** Calendar periods of UTC. */
  per: 'hour' | 'day' | 'month'
}

/** What `openStep` answers. */
export type StepStanding =
  /** Do it now. For a paid step the use is counted and durable. */
  | { state: 'open' }
  /** Done before: use this, call nobody. */
  | { state: 'settled'; result: Json }
  /** The provider took it under this id: ask it for the result instead of calling again. */
  | { state: 'submitted'; providerId: string }
  /** An attempt that is gone may or may not have been billed. Counted as unknown, until `evenIfUnknown`. */
  | { state: 'unknown' }
  /** The quota is used up; nothing was counted. */
  | { state: 'exhausted'; limit: number; resetsAtMs: number }
  /** Somebody else has claimed the job since, or it is gone. Counted as a stale publication. */
  | { state: 'lost' }

/** The durable row of one step. Instants are Unix ms. */
export interface StepRecord {
  name: string
  state: StepState
  /** Of the attempt that opened it, or last recorded something of it. */
  epoch: number
  allowance: string | null
  /** The period that its use was counted in (`periodOf`). */
  period: string | null
  providerId: string | null
  result: Json
  /** Times that a use was counted for it, refunds not taken off. */
  uses: number
  /** When it was last opened, or recorded without being opened (a free one). */
  openedAtMs: number
  changedAtMs: number
}

/** `used` are settled; a use moves between these three and out of them only by a refund. */
export interface Allowance {
  used: number
  reserved: number
  unknown: number
  resetsAtMs: number
}

/** The UTC calendar period of an instant: `2026-11-29T20`, `2026-11-29` or `2026-11`. Pure. */
export function periodOf(atMs: number, per: AllowanceUse['per']): string {
  const iso = new Date(atMs).toISOString()
  return iso.slice(0, { hour: 13, day: 10, month: 7 }[per])
}

/** The first instant of the next period. Pure. */
export function periodEndsAtMs(atMs: number, per: AllowanceUse['per']): number {
  const at = new Date(atMs)
  const [year, month, day] = [at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate()]
  if (per === 'month') return Date.UTC(year, month + 1)
  if (per === 'day') return Date.UTC(year, month, day + 1)
  return Date.UTC(year, month, day, at.getUTCHours() + 1)
}

/** Whether one more use fits. Pure; the caller holds the allowance's row. */
export function hasRoomFor(
  allowance: Pick<Allowance, 'used' | 'reserved' | 'unknown'>,
  limit: number,
): boolean {
  return allowance.used + allowance.reserved + allowance.unknown < limit
}

/**
 * What a new opening of a step meets, from what was stored for it; null when it may be counted and opened. Pure.
 * A `reserved` step of an earlier epoch is one whose attempt is gone: from now on it is unknown. One of this very
 * epoch is a repeat of the same opening (its answer was lost), and is open.
 */
export function standingOf(
  step: Pick<StepRecord, 'state' | 'epoch' | 'providerId' | 'result'> | undefined,
  { epoch, evenIfUnknown }: { epoch: number; evenIfUnknown: boolean },
): Exclude<StepStanding, { state: 'exhausted' | 'lost' }> | null {
  if (!step || step.state === 'refunded') return null
  if (step.state === 'settled') return { state: 'settled', result: step.result }
  if (step.state === 'submitted') return { state: 'submitted', providerId: step.providerId! }
  if (step.state === 'reserved' && step.epoch === epoch) return { state: 'open' }
  return evenIfUnknown ? null : { state: 'unknown' }
}

/** Where the newest use of a step stands among its allowance's counts; null once it was given back. Pure. */
export function countOf(state: StepState): 'used' | 'reserved' | 'unknown' | null {
  if (state === 'refunded') return null
  if (state === 'settled') return 'used'
  return state === 'unknown' ? 'unknown' : 'reserved'
}

/**
 * Whether what an attempt says of a step is to be written. Not when it was said before, and never once the step is
 * settled: a result that somebody may have acted on is not replaced by another. Pure.
 */
export function isNews(
  step: Pick<StepRecord, 'state' | 'providerId'>,
  change: { state: StepState; providerId?: string },
): boolean {
  if (step.state === 'settled') return false
  return (
    step.state !== change.state || (change.state === 'submitted' && step.providerId !== change.providerId)
  )
}
