import type { Transaction } from '@garner/db'
import { forgetThing } from '../../../idempotency.ts'
import type { Objects } from '../../../outbound/objects.ts'
import { badRequest, conflict, type HttpProblem, notFound } from '../../../problem.ts'
import { cleanLine, cleanText } from '../../../text.ts'
import { diaryChanged } from '../diary.ts'
import { type EntryDeps, forgetEntry, removeAfter } from '../intake/entries.ts'
import { ownEntry } from '../intake/entry.ts'
import { readClientTime } from '../photo/index.ts'
import { hundredths, nutrientsOf, perNutrient } from './amounts.ts'
import { itemsOf, type MealRow, toMeal } from './meal.ts'
import { findMeal, findWaiting, type WaitingEntry } from './queries.ts'
import {
  type EditMeal,
  FOOD_MAX,
  type MealItem,
  NUTRIENTS,
  type WriteItem,
  type WriteMeal,
} from './schemas.ts'

/**
 * What a person does to meals by hand. Each function runs inside the caller's one transaction: the meal, the diary's
 * version, the remembered answer and what becomes of the photo's job are durable together or not at all. Killed
 * before the commit, nothing has happened and nobody was told yes; the client's repeat does it. Killed after it,
 * everything has, and only a deleted meal's photo is still on disk: no row leads to it, nobody is shown it, and the
 * sweep removes it.
 *
 * An edit is never overwritten: `is_edited` and the version tell every estimate that comes late. A deletion is never
 * undone: it takes the job with it, so nothing that comes back has a right to publish, and marks the entry.
 */
export interface WriteDeps extends EntryDeps {
  objects: Pick<Objects, 'remove'>
  ids: () => string
  nowMs: () => number
}

/** What is stored of a meal that a person writes: checked and clean. */
export interface WrittenMeal {
  date: string
  time: string
  description: string
  items: MealItem[]
}

/** Errors: 400 naming every bad field. */
export function writtenMeal(body: WriteMeal, nowMs: number): WrittenMeal {
  const description = checkedDescription(body.description)
  return { ...checkedTime(body, nowMs), description, items: itemsIn(body, description) ?? [] }
}

export async function addMeal(
  tx: Transaction,
  deps: WriteDeps,
  { userId, meal }: { userId: string; meal: WrittenMeal },
): Promise<MealRow> {
  const id = deps.ids()
  const nowMs = deps.nowMs()
  const nutrients = nutrientsOf(meal.items)
  await tx.run(
    `INSERT INTO meals (id, user_id, date, time, description, items, ${NUTRIENTS.join(', ')},
       estimate, ai_assisted, is_edited, version, created_at_ms, changed_at_ms)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'none', 0, 0, 1, ?, ?)`,
    ...[id, userId, meal.date, meal.time, meal.description, JSON.stringify(meal.items)],
    ...NUTRIENTS.map((name) => nutrients[name]),
    ...[nowMs, nowMs],
  )
  await diaryChanged(tx, userId)
  return (await findMeal(tx, { id, userId }))!
}

/**
 * Changes a meal, or, while its photo is still being described, the day and time that it will have.
 * Errors: 404; 409 with the meal as it is when `version` is old, or when there is nothing to write on yet; 400.
 */
export async function editMeal(
  tx: Transaction,
  deps: WriteDeps,
  { id, userId, edit }: { id: string; userId: string; edit: EditMeal },
): Promise<MealRow | WaitingEntry> {
  if (Object.keys(edit).length === 1)
    throw badRequest('Say what to change: date, time, description, items or nutrients.')
  const row = await findMeal(tx, { id, userId })
  if (!row) return editWaiting(tx, deps, { id, userId, edit })
  const { date, time } = checkedTime(
    { date: edit.date ?? row.date, time: edit.time ?? row.time },
    deps.nowMs(),
  )
  const description = edit.description === undefined ? row.description : checkedDescription(edit.description)
  const written = itemsIn(edit, description)
  const items = written ?? itemsOf(row)
  const nutrients = written ? nutrientsOf(written) : row
  // Whoever writes what a meal was no longer waits for an estimate, and one that is under way finds that it is not
  // awaited; who only moves the meal still may be waiting.
  const isDescribed = edit.description !== undefined || written !== undefined ? 1 : 0
  // The version stands in the statement itself, and so does what an estimate may have changed without a new version:
  // between the look above and this, somebody else may have written.
  const { changes } = await tx.run(
    `UPDATE meals SET date = ?, time = ?, description = ?, items = ?,
       ${NUTRIENTS.map((name) => `${name} = ?`).join(', ')},
       estimate = CASE WHEN ? = 1 AND estimate = 'unknown' THEN 'none' ELSE estimate END,
       reason = CASE WHEN ? = 1 THEN NULL ELSE reason END,
       job_id = CASE WHEN ? = 1 THEN NULL ELSE job_id END,
       is_edited = 1, version = version + 1, changed_at_ms = ?
     WHERE id = ? AND version = ?`,
    ...[date, time, description, JSON.stringify(items)],
    ...NUTRIENTS.map((name) => nutrients[name]),
    ...[isDescribed, isDescribed, isDescribed, deps.nowMs()],
    ...[id, edit.version],
  )
  if (changes === 0) throw await versionConflict(tx, { id, userId })
  await diaryChanged(tx, userId)
  return (await findMeal(tx, { id, userId }))!
}

async function versionConflict(tx: Transaction, whose: { id: string; userId: string }): Promise<HttpProblem> {
  const row = await findMeal(tx, whose)
  if (!row) return notFound()
  return conflict(
    'version-conflict',
    'This meal has changed since you opened it. Nothing is lost: compare the two and save again.',
    toMeal(row),
  )
}

/**
 * Where a person says when the meal was before it is one: the estimate that is under way takes day and time from the
 * entry as it is when it publishes. Whatever version is named: there is nothing yet that could have changed.
 */
async function editWaiting(
  tx: Transaction,
  deps: WriteDeps,
  { id, userId, edit }: { id: string; userId: string; edit: EditMeal },
): Promise<WaitingEntry> {
  const entry = await findWaiting(tx, { id, userId })
  if (!entry) throw notFound()
  if (edit.description !== undefined || edit.items !== undefined || edit.nutrients !== undefined) {
    throw conflict(
      'still-waiting',
      'This photo is still being described. Its day and time can be changed now, the rest when it is a meal.',
      entry,
    )
  }
  const { date, time } = checkedTime(
    { date: edit.date ?? entry.date, time: edit.time ?? entry.time },
    deps.nowMs(),
  )
  const { changes } = await tx.run(
    `UPDATE photo_entries SET date = ?, time = ?, seconds = '', utc_offset = NULL, time_source = 'client', is_guess = 0
     WHERE id = ? AND state = 'waiting' AND is_deleted = 0`,
    ...[date, time, id],
  )
  // It has become a meal in this very moment: that is what can be changed now.
  if (changes === 0) throw await versionConflict(tx, { id, userId })
  await diaryChanged(tx, userId)
  return { ...entry, date, time }
}

/** Deletes a meal, or a photo that is to become one. Errors: 404. */
export async function deleteMeal(
  tx: Transaction,
  deps: WriteDeps,
  { id, userId }: { id: string; userId: string },
): Promise<void> {
  const row = await findMeal(tx, { id, userId })
  const entryId = row ? row.entry_id : (await ownEntry(tx, { id, userId }))?.id
  if (!row && entryId === undefined) throw notFound()
  // The entry first: it waits for a job that is publishing this very meal, which can then be deleted.
  if (entryId) removeAfter(tx, deps.objects, await forgetEntry(tx, deps, entryId))
  await tx.run('DELETE FROM meals WHERE id = ?', id)
  await forgetThing(tx, id)
  await diaryChanged(tx, userId)
}

function checkedTime(stated: { date: string; time: string }, nowMs: number): { date: string; time: string } {
  const read = readClientTime(stated, nowMs)
  if (!read.ok) {
    throw badRequest(read.errors.map(({ path, message }) => `${path}: ${message}`).join(' '), read.errors)
  }
  // An empty text is "not said" to an upload; here it is no date.
  if (!read.taken?.time)
    throw badRequest('A meal needs its date and time.', [{ path: 'date', message: 'is missing' }])
  return { date: read.taken.date, time: read.taken.time }
}

function checkedDescription(text: string): string {
  const description = cleanText(text)
  if (description !== '') return description
  throw badRequest('A meal needs a description.', [
    { path: 'description', message: 'has nothing that can be seen' },
  ])
}

/** The items that are written, or the one that stands for the whole meal; undefined where neither is said. */
function itemsIn(
  { items, nutrients }: Pick<WriteMeal, 'items' | 'nutrients'>,
  description: string,
): MealItem[] | undefined {
  if (nutrients === undefined) return items && checkedItems(items)
  if (items === undefined) return checkedItems([{ food: description.slice(0, FOOD_MAX), nutrients }])
  throw badRequest('Send items, or nutrients of the whole meal: with both, one of them is not the sum.', [
    { path: 'nutrients', message: 'does not go with items' },
  ])
}

function checkedItems(items: WriteItem[]): MealItem[] {
  const clean = items.map(
    (item): MealItem => ({
      food: cleanLine(item.food),
      serving: cleanLine(item.serving ?? ''),
      grams: amount(item.grams),
      nutrients: perNutrient((name) => amount(item.nutrients?.[name])),
      source: item.source ?? 'hand',
      basis: item.basis
        ? {
            grams: hundredths(item.basis.grams),
            nutrients: perNutrient((name) => amount(item.basis!.nutrients[name])),
          }
        : null,
    }),
  )
  const errors = clean.flatMap((item, n) =>
    item.food === '' ? [{ path: `items.${n}.food`, message: 'has nothing that can be seen' }] : [],
  )
  if (errors.length > 0) throw badRequest('Every item needs the name of its food.', errors)
  return clean
}

function amount(value: number | null | undefined): number | null {
  return value === null || value === undefined ? null : hundredths(value)
}
