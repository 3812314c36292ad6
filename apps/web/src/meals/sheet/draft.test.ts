import { describe, expect, test } from 'vitest'
import { itemOf, mealOf } from '../testing.ts'
import {
  changesIn,
  draftOf,
  emptyItem,
  type ItemDraft,
  type MealDraft,
  parseAmount,
  problemIn,
  recalculate,
  shownIn,
  totalOfItems,
  typeInto,
  writtenIn,
} from './draft.ts'

const meal = mealOf({ items: [itemOf()], version: 4 })
const first = (draft: MealDraft): ItemDraft => draft.items[0]!
const grams = (item: ItemDraft, ...texts: string[]) =>
  texts.reduce((now, text) => typeInto(now, 'grams', text, 'kcal'), item)

describe('grams', () => {
  test('scale from the estimate, not from the last edit: there and back is where it was', () => {
    const item = grams(first(draftOf(meal)), '3', '33', '1', '', '50')
    expect(item.nutrients).toEqual(itemOf().nutrients)
    expect(grams(item, '100').nutrients).toMatchObject({ energy_kcal: 260, protein_g: 14, fiber_g: null })
  })

  test('from the estimate also after it was saved scaled', () => {
    const basis = { grams: 50, nutrients: itemOf().nutrients }
    const saved = itemOf({
      grams: 7,
      basis,
      nutrients: { ...basis.nutrients, energy_kcal: 18.2, protein_g: 1, carbohydrate_g: 0.3, fat_g: 1.5 },
    })
    const item = first(draftOf(mealOf({ items: [saved] })))
    expect(item.own).toEqual([])
    expect(grams(item, '50').nutrients).toEqual(basis.nutrients)
  })

  test('leave alone what a person has typed, until it is recalculated', () => {
    const typed = typeInto(first(draftOf(meal)), 'energy_kcal', '200', 'kcal')
    const heavier = grams(typed, '100')
    expect(heavier.nutrients).toMatchObject({ energy_kcal: 200, protein_g: 14 })
    expect(heavier.own).toEqual(['energy_kcal'])
    const again = recalculate(heavier, 'energy_kcal')
    expect([again.nutrients.energy_kcal, again.own, shownIn(again, 'energy_kcal', 'kcal')]).toEqual([
      260,
      [],
      '260',
    ])
  })

  test('what was typed is still known as one’s own after a save', () => {
    const basis = { grams: 50, nutrients: itemOf().nutrients }
    const saved = itemOf({ basis, nutrients: { ...basis.nutrients, energy_kcal: 200 } })
    expect(first(draftOf(mealOf({ items: [saved] }))).own).toEqual(['energy_kcal'])
  })

  test('"1 slice" is not said of half a slice', () => {
    expect(grams(first(draftOf(meal)), '25').serving).toBe('')
    expect(grams(first(draftOf(meal)), '50').serving).toBe('1 slice')
  })

  test('half a number moves nothing and is not lost', () => {
    const item = grams(first(draftOf(meal)), '5,')
    expect(item.nutrients.energy_kcal).toBe(13)
    const bad = grams(first(draftOf(meal)), '5x')
    expect([bad.grams, shownIn(bad, 'grams', 'kcal')]).toEqual([50, '5x'])
    expect(problemIn({ ...draftOf(meal), items: [bad] })).toMatch(/not a number/)
  })
})

test.each([
  ['', null],
  [' 12 ', 12],
  ['12,5', 12.5],
  ['.5', 0.5],
  ['-3', undefined],
  ['1e3', undefined],
  ['1.2.3', undefined],
  ['NaN', undefined],
])('%j is the amount %s', (text, amount) => {
  expect(parseAmount(text)).toBe(amount)
})

test('kilojoules are shown and typed, kilocalories are kept', () => {
  const item = first(draftOf(meal))
  expect(shownIn(item, 'energy_kcal', 'kJ')).toBe('544')
  expect(typeInto(item, 'energy_kcal', '418.4', 'kJ').nutrients.energy_kcal).toBeCloseTo(100)
})

describe('the whole', () => {
  test('is the sum of the rows; unknown is not zero', () => {
    const items = [itemOf(), itemOf({ grams: null, nutrients: { ...itemOf().nutrients, energy_kcal: null } })]
    const total = totalOfItems(draftOf(mealOf({ items })).items)
    expect(total).toMatchObject({ grams: 50, energy_kcal: 130, protein_g: 14, fiber_g: null })
  })

  test('unchanged is nothing to save; only what differs is sent', () => {
    const draft = draftOf(meal)
    expect(changesIn(draft, meal)).toBeNull()
    expect(changesIn({ ...draft, time: '13:00' }, meal)).toEqual({ time: '13:00' })
    const changed = { ...draft, items: [grams(first(draft), '100')] }
    const basis = { grams: 50, nutrients: itemOf().nutrients }
    expect(changesIn(changed, meal)?.items).toEqual([
      expect.objectContaining({ grams: 100, source: 'table', basis }),
    ])
  })

  test('an amount typed by hand is said to be by hand', () => {
    const typed = typeInto(first(draftOf(meal)), 'fat_g', '9', 'kcal')
    expect(writtenIn({ ...draftOf(meal), items: [typed] }).items?.[0]).toMatchObject({ source: 'hand' })
  })

  test('empty rows are left out; without words the foods are the description', () => {
    const rice = { ...emptyItem('a'), food: ' Rice ' }
    const draft = { ...draftOf(meal), description: ' ', items: [rice, emptyItem('b')] }
    expect(problemIn(draft)).toBeNull()
    expect(writtenIn(draft)).toMatchObject({ description: 'Rice', items: [{ food: 'Rice' }] })
  })

  test.each([
    [{ date: '' }, 'The day is missing.'],
    [{ time: '' }, 'The time is missing.'],
    [{ description: '', items: [] }, 'Write what it was.'],
    [{ items: [{ ...emptyItem('a'), grams: 3 }] }, 'An item has amounts and no name.'],
  ])('%j cannot be saved', (part, words) => {
    expect(problemIn({ ...draftOf(meal), ...part })).toBe(words)
  })
})
