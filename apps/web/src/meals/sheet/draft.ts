import { isDay, isTime } from '../../words/local-day.ts'
import { type EnergyUnit, inUnit, kcalFrom, sumKnown, UNKNOWN } from '../amounts.ts'
import {
  type EditMeal,
  type Meal,
  type MealItem,
  NUTRIENTS,
  type Nutrient,
  type Nutrients,
  type WriteItem,
  type WriteMeal,
} from '../contract.ts'

/** A column of an item's row. */
export type Column = 'grams' | Nutrient

/** One row of the sheet. Amounts are exact; `typed` is what stands in a field while it was written in. */
export interface ItemDraft {
  key: string
  food: string
  serving: string
  grams: number | null
  nutrients: Nutrients
  /** Nutrients that a person has typed: grams do not touch them until they are recalculated. */
  own: Nutrient[]
  /** The portion as it was estimated. Grams scale from here, never from the last edit, so that nothing drifts. */
  basis: { grams: number; nutrients: Nutrients } | null
  source: MealItem['source']
  typed: Partial<Record<Column, string>>
}

export interface MealDraft {
  /** The version that the writing began from; null for a meal that is not written yet. */
  version: number | null
  date: string
  time: string
  description: string
  items: ItemDraft[]
  /** The meal as it was found when saving was refused. */
  conflict: Meal | null
}

export function draftOf(meal: Meal): MealDraft {
  return {
    version: meal.version,
    date: meal.date,
    time: meal.time,
    description: meal.description,
    items: meal.items.map((item, i) => itemDraft(item, `${meal.id}-${i}`)),
    conflict: null,
  }
}

function itemDraft(item: MealItem, key: string): ItemDraft {
  const own = item.basis === null ? [] : NUTRIENTS.filter((nutrient) => !isScaled(item, nutrient))
  const isWeighed = item.grams !== null && item.grams > 0
  const basis = item.basis ?? (isWeighed ? { grams: item.grams!, nutrients: item.nutrients } : null)
  const { food, serving, grams, nutrients, source } = item
  return { key, food, serving, grams, nutrients, own, basis, source, typed: {} }
}

/** A tenth apart is the rounding of what was shown; more was written by somebody. */
const ROUNDING = 0.11

function isScaled(item: MealItem, nutrient: Nutrient): boolean {
  if (item.basis === null || item.grams === null) return true
  const value = item.nutrients[nutrient]
  const scaled = scaledFrom(item.basis, item.grams, nutrient)
  if (value === null || scaled === null) return value === scaled
  return Math.abs(value - scaled) <= ROUNDING
}

export function emptyItem(key: string): ItemDraft {
  return {
    ...{ key, food: '', serving: '', grams: null, nutrients: UNKNOWN },
    ...{ own: [], basis: null, source: 'hand', typed: {} },
  }
}

function scaledFrom(
  basis: NonNullable<ItemDraft['basis']>,
  grams: number,
  nutrient: Nutrient,
): number | null {
  const amount = basis.nutrients[nutrient]
  return amount === null || basis.grams === 0 ? amount : tenth((amount * grams) / basis.grams)
}

/** A tenth of a gram is finer than anybody weighs, and sums of it stay readable. */
const tenth = (amount: number) => Math.round(amount * 10) / 10

/** `12,5` is 12.5 to most of Europe. Null: nothing stands there; undefined: what stands there is no amount. */
export function parseAmount(text: string): number | null | undefined {
  const clean = text.trim().replace(',', '.')
  if (clean === '') return null
  if (!/^(\d+\.?\d*|\.\d+)$/.test(clean)) return undefined
  return Number(clean)
}

/** Somebody writes in a field: grams move the rest of the row, a nutrient becomes its writer's own. */
export function typeInto(item: ItemDraft, column: Column, text: string, unit: EnergyUnit): ItemDraft {
  const typed = { ...item.typed, [column]: text }
  const amount = parseAmount(text)
  if (amount === undefined) return { ...item, typed }
  if (column === 'grams') return withGrams({ ...item, typed }, amount)
  const value = column === 'energy_kcal' && amount !== null ? kcalFrom(amount, unit) : amount
  const own = item.own.includes(column) ? item.own : [...item.own, column]
  return { ...item, typed, own, nutrients: { ...item.nutrients, [column]: value } }
}

function withGrams(item: ItemDraft, grams: number | null): ItemDraft {
  const { basis } = item
  if (basis === null || grams === null) return { ...item, grams }
  const free = NUTRIENTS.filter((nutrient) => !item.own.includes(nutrient))
  const scaled = Object.fromEntries(free.map((nutrient) => [nutrient, scaledFrom(basis, grams, nutrient)]))
  // "1 slice" is no longer what the row says.
  const serving = grams === basis.grams ? item.serving : ''
  return { ...item, grams, serving, nutrients: { ...item.nutrients, ...scaled } }
}

/** What was typed goes; the amount follows the grams again. */
export function recalculate(item: ItemDraft, nutrient: Nutrient): ItemDraft {
  const { [nutrient]: _, ...typed } = item.typed
  const own = item.own.filter((one) => one !== nutrient)
  const value =
    item.basis === null || item.grams === null
      ? item.nutrients[nutrient]
      : scaledFrom(item.basis, item.grams, nutrient)
  return { ...item, typed, own, nutrients: { ...item.nutrients, [nutrient]: value } }
}

/** What stands in a field. */
export function shownIn(item: ItemDraft, column: Column, unit: EnergyUnit): string {
  const typed = item.typed[column]
  if (typed !== undefined) return typed
  const amount = column === 'grams' ? item.grams : item.nutrients[column]
  if (amount === null) return ''
  return plain(column === 'energy_kcal' ? inUnit(amount, unit) : amount)
}

function plain(amount: number): string {
  return String(amount < 10 ? tenth(amount) : Math.round(amount))
}

/** Always the sum of the rows. */
export function totalOfItems(items: readonly ItemDraft[]): Record<Column, number | null> {
  const sums = NUTRIENTS.map((nutrient) => [
    nutrient,
    sumKnown(items.map((item) => item.nutrients[nutrient])),
  ])
  return { ...Object.fromEntries(sums), grams: sumKnown(items.map((item) => item.grams)) }
}

/** What is wrong with a draft, in words; null when it can be saved. */
export function problemIn(draft: MealDraft): string | null {
  if (!isDay(draft.date)) return 'The day is missing.'
  if (!isTime(draft.time)) return 'The time is missing.'
  if (draft.description.trim() === '' && draft.items.every((item) => item.food.trim() === ''))
    return 'Write what it was.'
  const bad = draft.items.find((item) => Object.values(item.typed).some(isBad))
  if (bad) return `“${bad.food || 'An item'}” has an amount that is not a number.`
  const nameless = draft.items.some((item) => item.food.trim() === '' && !isEmptyItem(item))
  return nameless ? 'An item has amounts and no name.' : null
}

const isBad = (text: string | undefined) => text !== undefined && parseAmount(text) === undefined

function isEmptyItem(item: ItemDraft): boolean {
  return (
    item.food.trim() === '' && item.grams === null && NUTRIENTS.every((one) => item.nutrients[one] === null)
  )
}

export function writtenIn(draft: MealDraft): WriteMeal {
  const items = draft.items.filter((item) => !isEmptyItem(item))
  const description = draft.description.trim() || items.map((item) => item.food.trim()).join(', ')
  return { date: draft.date, time: draft.time, description, items: items.map(writtenItem) }
}

function writtenItem(item: ItemDraft): WriteItem {
  const { grams, nutrients, serving, basis } = item
  const isOwn = item.own.length > 0
  const isAsEstimated = basis === null || (basis.grams === grams && !isOwn)
  return {
    ...{ food: item.food.trim(), serving, grams, nutrients },
    source: isOwn ? 'hand' : item.source,
    basis: isAsEstimated ? null : basis,
  }
}

/** Only what differs from the meal is sent, so nothing else can be undone by it. Null: nothing differs. */
export function changesIn(draft: MealDraft, meal: Meal): Omit<EditMeal, 'version'> | null {
  const now = writtenIn(draft)
  const before = writtenIn(draftOf(meal))
  const changes: Omit<EditMeal, 'version'> = {}
  if (now.date !== before.date) changes.date = now.date
  if (now.time !== before.time) changes.time = now.time
  if (now.description !== before.description) changes.description = now.description
  if (JSON.stringify(now.items) !== JSON.stringify(before.items)) changes.items = now.items ?? []
  return Object.keys(changes).length === 0 ? null : changes
}
