import type { Transaction, Value } from '@garner/db'
import { OperationConflict, QueueFull } from '../errors.ts'
import type { Job, JobState, Json } from '../job.ts'
import { payloadHash } from '../payload-hash.ts'
import type { Bounds } from '../rank.ts'
import type { Submission, Submitted } from '../store.ts'
import { lines, numberArray, numbersOf, orNone, orOne, textArray } from './arrays.ts'
import { type JobRow, toJob } from './rows.ts'
import * as sql from './sql.ts'

/** Where a statement can be run: a transaction of ours, a caller's, or none. */
export type Asking = Pick<Transaction, 'get'>

export interface Limits extends Bounds {
  retryAfterMs: number
}

export interface Acceptance {
  limits: Limits
  /** The instant that rules; null for the database's own clock. */
  now: () => number | null
}

interface Answer {
  nowMs: number | string
  refusal: 'conflict' | 'tenant' | 'total' | null
  refusedAt: number | string | null
  taken: number | string | null
  bases: string
  costs: string
  /** JSON. */
  repeats: string | Repeat[] | null
}

interface Repeat {
  /** Its place in the call, from 1. */
  at: number
  id: string
  state: JobState | null
  created_at_ms: number
  job: JobRow | null
}

/**
 * Accepts all of them or none, in one round trip (two where there is one job, and it is the first of its tenant
 * or a repeat). The database decides (migrations/0002_submit.sql, 0007_submit_all.sql): the tenants' rows are its locks.
 * Repeats within the call are seen here, so that it meets each operation once.
 * Errors: OperationConflict, QueueFull; then nothing of this call is in the transaction.
 */
export async function submitAll(
  tx: Asking,
  submissions: readonly Submission[],
  acceptance: Acceptance,
): Promise<Submitted[]> {
  if (submissions.length === 0) return []
  const call = new Call(submissions)
  if (call.sent.length === 1 && !call.cut) {
    const { limits, now } = acceptance
    const parameters = call.parametersOfOne(limits, now())
    const { nowAndRank } = (await tx.get<{ nowAndRank: string | null }>(sql.SUBMIT_ONE, ...parameters))!
    if (nowAndRank !== null) {
      const [nowMs, rank] = numbersOf(nowAndRank) as [number, number]
      return call.answers({ nowMs, ranks: () => [rank] }, [])
    }
  }
  return submitCall(tx, call, acceptance)
}

/** The same in exactly one statement: those that are sent at once on one connection are decided in their order. */
export async function submitInTurn(
  tx: Asking,
  submissions: readonly Submission[],
  acceptance: Acceptance,
): Promise<Submitted[]> {
  return submitCall(tx, new Call(submissions), acceptance)
}

/** 500: a part takes the database 5 ms, half of one for the call itself, and its caller 4, which the next one hides. */
export const PART_JOBS = 500

/**
 * The same for more than PART_JOBS in a transaction of ours: one part is made while the database stores the one before.
 * The first part locks the tenants of all, in their order, so that two such calls cannot wait for each other.
 * Errors: that of the first part that was refused; the transaction is then to be undone, since others may be in it.
 */
export async function submitInParts(
  tx: Asking,
  submissions: readonly Submission[],
  acceptance: Acceptance,
): Promise<Submitted[]> {
  let tenants = [...new Set(submissions.map((one) => one.tenant))]
  const parts: Promise<Submitted[]>[] = []
  for (let from = 0; from < submissions.length; from += PART_JOBS) {
    const call = new Call(submissions.slice(from, from + PART_JOBS), tenants)
    parts.push(submitCall(tx, call, acceptance))
    tenants = []
  }
  const answers = await Promise.allSettled(parts)
  return answers.flatMap((one) => {
    if (one.status === 'rejected') throw one.reason
    return one.value
  })
}

async function submitCall(tx: Asking, call: Call, { limits, now }: Acceptance): Promise<Submitted[]> {
  // One alone comes here when it is not the usual case.
  const by = call.sent.length === 1 ? sql.SUBMIT : sql.SUBMIT_ALL
  const answer = (await tx.get<Answer>(by, ...call.parameters(limits, now())))!
  if (answer.refusal !== null) throw refusalOf(answer, call, limits)
  const [bases, costs] = [numbersOf(answer.bases), numbersOf(answer.costs)]
  const ranks = (isNew: (index: number) => boolean) => call.ranks(bases, costs, isNew)
  return call.answers({ nowMs: Number(answer.nowMs), ranks }, repeatsOf(answer))
}

/** One call's submissions as they are sent: each operation once, up to the first that is in conflict with another. */
class Call {
  readonly sent: Submission[] = []
  /** The submission after the sent ones, when it has an operation of one of them with another payload. */
  readonly cut: Submission | null = null
  readonly #payloads: string[] = []
  readonly #hashes: (string | null)[] = []
  /** For each submission, which of the sent ones answers it. */
  readonly #sentAs: number[] = []
  /** Which line (from 1) each of the sent ones stands in: one tenant's place in one priority. */
  readonly #lineOf: number[] = []
  readonly #lines: { tenant: string; priority: number }[] = []

  /** @param tenants to be locked as well, for what comes behind this call */
  constructor(submissions: readonly Submission[], tenants: readonly string[] = []) {
    const operations = new Map<string, number>()
    const lineNumbers = new Map<string, number>()
    for (const one of submissions) {
      const { tenant, operationId, payload, priority = 0 } = one
      const hash = operationId === undefined ? null : payloadHash(payload)
      if (hash !== null && submissions.length > 1) {
        const operation = JSON.stringify([tenant, operationId])
        const earlier = operations.get(operation)
        if (earlier !== undefined && this.#hashes[earlier] !== hash) {
          this.cut = one
          break
        }
        if (earlier !== undefined) {
          this.#sentAs.push(earlier)
          continue
        }
        operations.set(operation, this.sent.length)
      }
      const line = `${priority} ${tenant}`
      const number = lineNumbers.get(line) ?? this.#lines.push({ tenant, priority })
      lineNumbers.set(line, number)
      this.#lineOf.push(number)
      this.#sentAs.push(this.sent.length)
      this.sent.push(one)
      this.#payloads.push(JSON.stringify(payload))
      this.#hashes.push(hash)
    }
    const own = new Set(this.#lines.map((one) => one.tenant))
    for (const tenant of tenants) if (!own.has(tenant)) this.#lines.push({ tenant, priority: 0 })
  }

  /** Those of job_submit_one, of the only submission. */
  parametersOfOne(bounds: Bounds, nowMs: number | null): Value[] {
    const { id, kind, tenant, priority = 0, runAtMs = null, deadlineMs, ...about } = this.sent[0]!
    const { subject = null, subjectVersion = null, key = null, operationId = null } = about
    return [
      ...[id, kind, tenant, this.#payloads[0]!, priority, runAtMs, deadlineMs, subject, subjectVersion, key],
      ...[operationId, this.#hashes[0]!, whole(bounds.perTenant), whole(bounds.total), nowMs],
    ]
  }

  /** Those of job_submit, in its order. */
  parameters(bounds: Bounds, nowMs: number | null): Value[] {
    const { sent } = this
    const operations = orNone(sent.map((one) => one.operationId ?? null))
    return [
      textArray(sent.map((one) => one.id)),
      textArray(orOne(sent.map((one) => one.kind))),
      textArray(orOne(sent.map((one) => one.tenant))),
      lines(this.#payloads),
      numberArray(orOne(sent.map((one) => one.priority ?? 0))),
      numberArray(orNone(sent.map((one) => one.runAtMs ?? null))),
      numberArray(orOne(sent.map((one) => one.deadlineMs))),
      textArray(orNone(sent.map((one) => one.subject ?? null))),
      numberArray(orNone(sent.map((one) => one.subjectVersion ?? null))),
      textArray(orNone(sent.map((one) => one.key ?? null))),
      textArray(operations),
      textArray(operations.length === 0 ? [] : this.#hashes),
      numberArray(orOne(this.#lineOf)),
      numberArray(this.#lines.length === 1 ? [] : this.#places(() => true)),
      textArray(this.#lines.map((one) => one.tenant)),
      numberArray(this.#lines.map((one) => one.priority)),
      ...[whole(bounds.perTenant), whole(bounds.total), this.cut ? 1 : 0, nowMs],
    ]
  }

  /** One answer for each submission; those that repeat another of the call are told so. */
  answers(
    of: { nowMs: number; ranks: (isNew: (index: number) => boolean) => number[] },
    repeats: Repeat[],
  ): Submitted[] {
    const known = new Map(repeats.map((one) => [one.at - 1, one]))
    const ranks = of.ranks((index) => !known.has(index))
    const answers = this.sent.map((submission, index): Submitted => {
      const payload = JSON.parse(this.#payloads[index]!) as Json
      const repeat = known.get(index)
      if (repeat)
        return {
          job: repeat.job ? toJob(repeat.job) : prunedJob(submission, payload, repeat),
          isRepeat: true,
        }
      return { job: newJob(submission, payload, { nowMs: of.nowMs, rank: ranks[index]! }), isRepeat: false }
    })
    const answered = new Set<number>()
    return this.#sentAs.map((index) => {
      const answer = answers[index]!
      if (!answered.has(index)) {
        answered.add(index)
        return answer
      }
      return { job: structuredClone(answer.job), isRepeat: true }
    })
  }

  /** The ranks of those that are new, as the database has written them: nextRank of rank.ts. */
  ranks(bases: number[], costs: number[], isNew: (index: number) => boolean): number[] {
    const places = this.#places(isNew)
    return this.#lineOf.map((line, index) => bases[line - 1]! + places[index]! * costs[line - 1]!)
  }

  /** For each of the sent ones its place in its line, from 1, where only those count that `isIn` says. */
  #places(isIn: (index: number) => boolean): number[] {
    const counts = this.#lines.map(() => 0)
    return this.#lineOf.map((line, index) => {
      if (isIn(index)) counts[line - 1]!++
      return counts[line - 1]!
    })
  }
}

function refusalOf({ refusal, refusedAt, taken }: Answer, { sent, cut }: Call, limits: Limits): Error {
  if (refusal === 'conflict') {
    return new OperationConflict((sent[Number(refusedAt) - 1] ?? cut)!.operationId!)
  }
  const scope = refusal as 'tenant' | 'total'
  const limit = scope === 'tenant' ? limits.perTenant : limits.total
  return new QueueFull({ scope, limit, pending: Number(taken), retryAfterMs: limits.retryAfterMs })
}

function repeatsOf({ repeats }: Answer): Repeat[] {
  if (repeats === null) return []
  return typeof repeats === 'string' ? (JSON.parse(repeats) as Repeat[]) : repeats
}

/** Bounds may be without end; the database counts to 2^53. */
export function whole(bound: number): number {
  return Math.min(Math.floor(bound), Number.MAX_SAFE_INTEGER)
}

function newJob(
  submission: Submission,
  payload: Json,
  { nowMs, rank }: { nowMs: number; rank: number },
): Job {
  return {
    id: submission.id,
    kind: submission.kind,
    tenant: submission.tenant,
    payload,
    subject: submission.subject ?? null,
    subjectVersion: submission.subjectVersion ?? null,
    key: submission.key ?? null,
    state: 'ready',
    priority: submission.priority ?? 0,
    rank,
    runAtMs: submission.runAtMs ?? nowMs,
    attempt: 0,
    epoch: 0,
    generation: 1,
    leaseUntilMs: null,
    submittedAtMs: nowMs,
    deadlineAtMs: nowMs + submission.deadlineMs,
    finishedAtMs: null,
    lastError: null,
    result: null,
    progress: null,
  }
}

/** Of a job that is gone only its id and its end are known; the rest is what the repeated submission says. */
function prunedJob(submission: Submission, payload: Json, { id, state, created_at_ms: nowMs }: Repeat): Job {
  return { ...newJob(submission, payload, { nowMs, rank: 0 }), id, state: state! }
}
