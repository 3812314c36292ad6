import type { Queryable, Transaction } from '@garner/db'
import type { Job, JobKind, Submission, WriteAnswer } from '@garner/jobs'
import type { Objects } from '../../outbound/objects.ts'
import { diaryChanged } from './diary.ts'
import { type EstimatingDeps, estimateOf, isFailedCall } from './estimating.ts'
import { removeAfter } from './intake/entries.ts'
import { type EntryRow, type EntryState, findEntry, photoSubject } from './intake/entry.ts'
import { type MealWords, placeholder, putMeal, wordsOf } from './photo-meal.ts'

/**
 * The job that makes a meal of a photo.
 *
 * Promises. Each accepted photo ends as one meal with its picture, at its own minute: with words and amounts where they
 * could be had, else with the placeholder and the reason. The meal, the entry's end and the job's end are one
 * transaction, which goes through only if the account still stands (J9), read again inside it. What a person has done
 * meanwhile wins: a deleted photo makes no meal, an edited meal is not touched.
 * What a call costs is told in estimating.ts. Saving that fails keeps what was paid for and is tried again; after six
 * times the entry is dead, visible, its photo kept, and a repair finds the paid answer.
 *
 * Killed before the publication's commit: nothing of the meal is there; the next try finds the paid answer and saves it.
 * Killed after it: all of it is there, and whoever comes again is told so. The account gone in between: the entry is
 * discarded, or gone with its account, and its picture goes after the commit; cut there, the sweep removes it.
 */
export const DESCRIBE_PHOTO = 'describe-photo'

/** 7 days: a quota that is used up for longer is not coming back, and the photo is logged without words. */
export const DEADLINE_MS = 7 * 24 * 3_600_000
/** 6 tries to save; calls that fail are counted apart (estimating.ts). */
export const SAVES_MAX = 6
/** 30 min between tries at most, as for titles. */
const BACKOFF_MAX_MS = 30 * 60_000
/** Beyond the call's own limit: reading the photo, and asking again in another way of a model that knows only that. */
const AROUND_CALL_MS = 60_000

/**
 * Each call keeps its picture in memory, as it is, as text and as a request: about 2 MB. Together they are fewer than a
 * worker's slots (32), or a model that hangs would keep titles waiting.
 */
export const CALLS_AT_ONCE = { photos: 20, byHand: 8 }

export interface DescribeDeps extends EstimatingDeps {
  read: Queryable
  isApproved: (query: Queryable, userId: string) => Promise<boolean>
  objects: Pick<Objects, 'get' | 'remove'>
  retryBaseMs: number
  /** How long one call may take. */
  visionTimeoutMs: number
}

export function describeJob(of: { id: string; userId: string; entryId: string }): Submission {
  return {
    ...{ id: of.id, kind: DESCRIBE_PHOTO, tenant: of.userId, deadlineMs: DEADLINE_MS },
    ...{ payload: { entry: of.entryId }, subject: photoSubject(of.entryId) },
  }
}

/** What both kinds of job about photos have in common. */
export function photoRules(deps: DescribeDeps) {
  return {
    policy: {
      ...{ attemptsMax: SAVES_MAX, deadlineMs: DEADLINE_MS, baseMs: deps.retryBaseMs },
      maxMs: Math.max(BACKOFF_MAX_MS, deps.retryBaseMs),
    },
    attemptMs: deps.visionTimeoutMs + AROUND_CALL_MS,
    isAllowed: (query: Transaction | Queryable, job: Job) => deps.isApproved(query, job.tenant),
  }
}

export function describePhoto(deps: DescribeDeps): JobKind<Transaction> {
  const end = (
    tx: Transaction,
    job: Job,
    ended: { state: EntryState; reason: string | null; words: MealWords },
  ) => endWithMeal(tx, job, { ...ended, nowMs: deps.nowMs() })
  return {
    kind: DESCRIBE_PHOTO,
    ...photoRules(deps),
    concurrency: CALLS_AT_ONCE.photos,

    async handle(attempt) {
      const { job } = attempt
      const entry = await entryOf(deps.read, job)
      if (!entry) return { write: async () => 'superseded' }
      const outcome = await estimateOf(deps, attempt, { blob: entry.blob, failedCalls: entry.failed_calls })
      const words = wordsOf(outcome)
      return {
        result: { outcome: outcome.outcome, items: outcome.estimate.items.length },
        write: (tx) => end(tx, job, { state: 'logged', reason: words.reason, words }),
      }
    },
    retried: (tx, job, { reason, runAtMs }) => storeFailure(tx, job, { reason, runAtMs }),
    degrade: (tx, job, reason) => end(tx, job, { state: 'placeholder', reason, words: placeholder(reason) }),
    died: (tx, job, reason) => endWithout(tx, job, { state: 'dead', reason, nowMs: deps.nowMs() }),
    discarded: (tx, job) => discard(tx, deps, job),
  }
}

/** The entry that the job is about; undefined when its person has taken it back. */
async function entryOf(query: Queryable, job: Job): Promise<EntryRow | undefined> {
  const { entry } = job.payload as { entry: string }
  const row = await findEntry(query, entry)
  return row && row.is_deleted === 0 ? row : undefined
}

async function endWithMeal(
  tx: Transaction,
  job: Job,
  {
    state,
    reason,
    words,
    nowMs,
  }: { state: EntryState; reason: string | null; words: MealWords; nowMs: number },
): Promise<WriteAnswer> {
  const entry = await entryOf(tx, job)
  if (!entry) return 'superseded'
  // Logged before, and repaired all the same: what is there stays.
  if (entry.state === 'logged') return undefined
  await putMeal(tx, { entry, words, nowMs })
  await setEnd(tx, entry, { state, reason, nowMs })
  return undefined
}

async function endWithout(
  tx: Transaction,
  job: Job,
  { state, reason, nowMs }: { state: EntryState; reason: string; nowMs: number },
): Promise<WriteAnswer> {
  const entry = await entryOf(tx, job)
  if (!entry) return 'superseded'
  if (entry.state === 'waiting' || entry.state === 'dead') await setEnd(tx, entry, { state, reason, nowMs })
  return undefined
}

async function setEnd(
  tx: Transaction,
  entry: EntryRow,
  { state, reason, nowMs }: { state: EntryState; reason: string | null; nowMs: number },
): Promise<void> {
  await tx.run(
    `UPDATE photo_entries SET state = ?, reason = ?, last_error = ?, next_try_at_ms = NULL, ended_at_ms = ? WHERE id = ?`,
    ...[state, reason, state === 'logged' ? null : reason, nowMs, entry.id],
  )
  await diaryChanged(tx, entry.user_id)
}

export async function storeFailure(
  tx: Transaction,
  job: Job,
  { reason, runAtMs }: { reason: string; runAtMs: number },
): Promise<WriteAnswer> {
  const entry = await entryOf(tx, job)
  if (!entry) return 'superseded'
  await tx.run(
    `UPDATE photo_entries SET attempts = attempts + 1, failed_calls = failed_calls + ?, last_error = ?,
       next_try_at_ms = ? WHERE id = ?`,
    ...[isFailedCall(reason) ? 1 : 0, reason, runAtMs, entry.id],
  )
  await diaryChanged(tx, entry.user_id)
  return undefined
}

/** The account is not approved any more, or the operator gave it up. A photo that has become a meal is not touched. */
async function discard(tx: Transaction, deps: DescribeDeps, job: Job): Promise<WriteAnswer> {
  const entry = await entryOf(tx, job)
  if (!entry || (entry.state !== 'waiting' && entry.state !== 'dead')) return undefined
  await tx.run(
    `UPDATE photo_entries SET state = 'discarded', reason = 'discarded', blob = NULL, look = NULL,
       next_try_at_ms = NULL, ended_at_ms = ? WHERE id = ?`,
    ...[deps.nowMs(), entry.id],
  )
  await diaryChanged(tx, entry.user_id)
  removeAfter(tx, deps.objects, entry.blob)
  return undefined
}
