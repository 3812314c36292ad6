import { beforeEach, describe, expect, test } from 'vitest'
import { Book } from '../../../testing/book.ts'

let book: Book
beforeEach(async () => {
  book = await Book.open()
})

const NONE = { energy_kcal: null, protein_g: null, carbohydrate_g: null, fat_g: null, fiber_g: null }
const put = (body: unknown, as: string | null = 'alice') => book.ask('PUT', '/api/goals', { body, as })
const get = async (as = 'alice') => (await book.ask('GET', '/api/goals', { as })).json()

describe('goals', () => {
  test('start empty: no goal, a day from midnight, kcal', async () => {
    expect(await get()).toEqual({ goals: NONE, start_of_day: '00:00', energy_unit: 'kcal' })
  })

  test('are replaced whole, and are one’s own', async () => {
    const goals = {
      energy_kcal: { amount: 2100, direction: 'about' },
      fiber_g: { amount: 30.5, direction: 'at_least' },
      fat_g: null,
    }
    const answer = await put({ goals, start_of_day: '04:30', energy_unit: 'kJ' })
    const whole = { goals: { ...NONE, ...goals }, start_of_day: '04:30', energy_unit: 'kJ' }
    expect([answer.statusCode, answer.json(), await get()]).toEqual([200, whole, whole])
    expect((await get('bob')).goals).toEqual(NONE)
    const next = { fat_g: { amount: 70, direction: 'at_most' } }
    await put({ goals: next })
    expect(await get()).toEqual({ goals: { ...NONE, ...next }, start_of_day: '00:00', energy_unit: 'kcal' })
  })

  test.each([
    ['an unknown nutrient', { goals: { salt_g: { amount: 5, direction: 'at_most' } } }],
    ['an unknown field', { weight_kg: 70 }],
    ['no direction', { goals: { fat_g: { amount: 5 } } }],
    ['an unknown direction', { goals: { fat_g: { amount: 5, direction: 'less' } } }],
    ['a goal of nothing', { goals: { fat_g: { amount: 0, direction: 'at_most' } } }],
    ['a negative goal', { goals: { fat_g: { amount: -5, direction: 'at_most' } } }],
    ['10^308', { goals: { energy_kcal: { amount: 1e308, direction: 'about' } } }],
    ['a number as text', { goals: { fat_g: { amount: '70', direction: 'at_most' } } }],
    ['an unpadded start of day', { start_of_day: '4:00' }],
    ['24:00', { start_of_day: '24:00' }],
    ['a start of day with seconds', { start_of_day: '04:00:00' }],
    ['another unit', { energy_unit: 'J' }],
  ])('%s: 400, and nothing changes', async (_name, body) => {
    expect((await put(body)).statusCode).toBe(400)
    expect(await book.count('goals')).toBe(0)
  })

  test('without credentials: 401', async () => {
    expect((await put({}, null)).statusCode).toBe(401)
  })
})

describe('GET /api/allowance', () => {
  const allowance = async (as = 'alice') => (await book.ask('GET', '/api/allowance', { as })).json()
  const whole = { limit: 50, used: 0, reserved: 0, unknown: 0, resets_at: '2026-08-11T00:00:00.000Z' }
  const ready = { provider: 'ready', provider_reason: null, provider_until: null }

  test('nothing used: the limit, and when the UTC day ends', async () => {
    expect(await allowance()).toEqual({ ...whole, ...ready })
  })

  test('counts what the person’s jobs have used, set aside and lost sight of', async () => {
    await book.use('alice', ['settled', 'settled', 'reserved', 'unknown'])
    expect(await allowance()).toMatchObject({ used: 2, reserved: 1, unknown: 1 })
    expect(await allowance('bob')).toMatchObject({ used: 0, reserved: 0, unknown: 0 })
    book.clock.advance(12 * 3_600_000)
    expect(await allowance()).toEqual({ ...whole, ...ready, resets_at: '2026-08-12T00:00:00.000Z' })
  })

  test('says that no provider is set up, or why and until when it rests', async () => {
    book.vision.isConfigured = false
    expect((await allowance()).provider).toBe('none')
    book.vision.isConfigured = true
    const untilMs = Date.parse('2026-08-10T13:00:00Z')
    book.vision.parked = () => ({ reason: 'quota_exceeded', untilMs })
    expect(await allowance()).toMatchObject({
      ...{
        provider: 'parked',
        provider_reason: 'quota_exceeded',
        provider_until: '2026-08-10T13:00:00.000Z',
      },
    })
  })
})
