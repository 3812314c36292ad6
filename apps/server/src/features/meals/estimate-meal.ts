import type { Queryable, Transaction } from '@garner/db'
import { type Job, type JobKind, type JobStore, PENDING_STATES, type WriteAnswer } from '@garner/jobs'
import type { Vision } from '../../outbound/vision.ts'
import { badRequest, conflict, type HttpProblem, notFound } from '../../problem.ts'
import { CALLS_AT_ONCE, DEADLINE_MS, type DescribeDeps, photoRules } from './describe-photo.ts'
import { diaryChanged } from './diary.ts'
import { estimateOf, isFailedCall } from './estimating.ts'
import { findEntry, photoSubject } from './intake/entry.ts'
import { type MealWords, SET_WORDS, valuesOf, wordsOf } from './photo-meal.ts'

/**
 * The job of an estimate that a person has asked for, of a meal that is there: "Estimate now".
 *
 * Promises. The new words replace the old ones only while the meal still waits for this very job (`meals.job_id`):
 * writing it by hand meanwhile, deleting it or asking once more takes that away, and the late estimate changes nothing.
 * Day, time and picture stay as they are. What fails leaves the meal as it was. It is a job of its own, so it is paid for
 * anew, and a redo of it is not. Killed anywhere: as in describe-photo.ts.
 */
export const ESTIMATE_MEAL = 'estimate-meal'

interface MealRow {
  id: string
  user_id: string
  entry_id: string | null
  blob: string | null
  job_id: string | null
}

export interface RequestDeps {
  jobs: JobStore<Transaction>
  ids: () => string
  vision: Pick<Vision, 'isConfigured'>
}

/** The job that the meal waits for, if it still runs: asking again meanwhile is the same request. */
export async function estimateUnderWay(
  query: Queryable,
  { jobs }: RequestDeps,
  { id, userId }: { id: string; userId: string },
): Promise<string | null> {
  const meal = await ownMeal(query, { id, userId })
  const found = meal?.job_id ? await jobs.get(meal.job_id) : undefined
  return found && PENDING_STATES.includes(found.job.state) ? found.job.id : null
}

/**
 * Submits the job, unless the meal still waits for the one that was found under way.
 * Errors: 404; 400 for a meal without a photo; 409 without a provider; QueueFull.
 * @returns the job's id
 */
export async function requestEstimate(
  tx: Transaction,
  { jobs, ids, vision }: RequestDeps,
  { id, userId, underWay }: { id: string; userId: string; underWay: string | null },
): Promise<string> {
  const meal = await ownMeal(tx, { id, userId })
  if (!meal) throw notFound()
  if (meal.blob === null || meal.entry_id === null)
    throw badRequest('This meal has no photo to estimate from.')
  if (!vision.isConfigured) throw noProvider()
  if (underWay !== null && meal.job_id === underWay) return underWay
  const { job } = await jobs.submit(tx, {
    ...{ id: ids(), kind: ESTIMATE_MEAL, tenant: userId, deadlineMs: DEADLINE_MS },
    ...{ payload: { entry: meal.entry_id }, subject: photoSubject(meal.entry_id) },
  })
  await tx.run('UPDATE meals SET job_id = ? WHERE id = ?', job.id, id)
  await tx.run('UPDATE photo_entries SET failed_calls = 0 WHERE id = ?', meal.entry_id)
  await diaryChanged(tx, userId)
  return job.id
}

function noProvider(): HttpProblem {
  const detail =
    'No vision provider is set up, so nothing can be estimated. You can describe the meal yourself.'
  return conflict('no-provider', detail)
}

function ownMeal(
  query: Queryable,
  { id, userId }: { id: string; userId: string },
): Promise<MealRow | undefined> {
  return query.get<MealRow>(
    'SELECT id, user_id, entry_id, blob, job_id FROM meals WHERE id = ? AND user_id = ?',
    ...[id, userId],
  )
}

export function estimateMeal(deps: DescribeDeps): JobKind<Transaction> {
  const giveUp = (tx: Transaction, job: Job, reason: string | null) =>
    storeNothing(tx, { job, reason, nowMs: deps.nowMs() })
  return {
    kind: ESTIMATE_MEAL,
    ...photoRules(deps),
    concurrency: CALLS_AT_ONCE.byHand,

    async handle(attempt) {
      const { job } = attempt
      const meal = await waitingMeal(deps.read, job)
      if (!meal) return { write: async () => 'superseded' }
      const entry = await findEntry(deps.read, meal.id)
      const outcome = await estimateOf(deps, attempt, {
        blob: meal.blob,
        failedCalls: entry?.failed_calls ?? 0,
      })
      return {
        result: { outcome: outcome.outcome, items: outcome.estimate.items.length },
        write: (tx) => storeWords(tx, { job, words: wordsOf(outcome), nowMs: deps.nowMs() }),
      }
    },
    retried: (tx, job, { reason }) => countFailure(tx, job, reason),
    degrade: (tx, job, reason) => giveUp(tx, job, reason),
    died: (tx, job, reason) => giveUp(tx, job, reason),
    discarded: (tx, job) => giveUp(tx, job, null),
  }
}

/** The meal, while it waits for this job. */
function waitingMeal(query: Queryable, job: Job): Promise<MealRow | undefined> {
  const { entry } = job.payload as { entry: string }
  return query.get<MealRow>(
    'SELECT id, user_id, entry_id, blob, job_id FROM meals WHERE id = ? AND job_id = ?',
    ...[entry, job.id],
  )
}

async function storeWords(
  tx: Transaction,
  { job, words, nowMs }: { job: Job; words: MealWords; nowMs: number },
): Promise<WriteAnswer> {
  const meal = await waitingMeal(tx, job)
  if (!meal) return 'superseded'
  await tx.run(
    `UPDATE meals SET ${SET_WORDS}, is_edited = 0, job_id = NULL, version = version + 1, changed_at_ms = ?
     WHERE id = ? AND job_id = ?`,
    ...valuesOf(words),
    ...[nowMs, meal.id, job.id],
  )
  await diaryChanged(tx, meal.user_id)
  return undefined
}

/** The meal stays as it is; one without an estimate says why it has none now. */
async function storeNothing(
  tx: Transaction,
  { job, reason, nowMs }: { job: Job; reason: string | null; nowMs: number },
): Promise<WriteAnswer> {
  const meal = await waitingMeal(tx, job)
  if (!meal) return 'superseded'
  const isUnknown = reason === 'billing_unknown' ? 1 : 0
  await tx.run(
    `UPDATE meals SET job_id = NULL, changed_at_ms = ?,
       reason = CASE WHEN estimate = 'estimated' OR ai_assisted = 1 OR is_edited = 1 THEN reason ELSE coalesce(?, reason) END,
       estimate = CASE WHEN ? = 1 AND ai_assisted = 0 AND is_edited = 0 THEN 'unknown' ELSE estimate END
     WHERE id = ? AND job_id = ?`,
    ...[nowMs, reason, isUnknown, meal.id, job.id],
  )
  await diaryChanged(tx, meal.user_id)
  return undefined
}

async function countFailure(tx: Transaction, job: Job, reason: string): Promise<WriteAnswer> {
  const meal = await waitingMeal(tx, job)
  if (!meal) return 'superseded'
  if (isFailedCall(reason)) {
    await tx.run('UPDATE photo_entries SET failed_calls = failed_calls + 1 WHERE id = ?', meal.id)
  }
  return undefined
}
