import { type Database, ManualClock, migrate } from '@garner/db'
import { openSqlite } from '@garner/db/sqlite'
import { OperationConflict } from '@garner/jobs'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type App, createApp } from './http.ts'
import {
  answerOnce,
  forgetAnswersOf,
  forgetThing,
  KEPT_MS,
  type Operation,
  operationOf,
  replay,
  sendAnswer,
  serverMigrations,
  sweep,
} from './idempotency.ts'

let db: Database
let clock: ManualClock
let app: App
let effects: number

beforeEach(async () => {
  clock = new ManualClock()
  db = openSqlite({ path: ':memory:', clock })
  await migrate(db, [serverMigrations], clock)
  effects = 0
  app = createApp({ logger: pino({ level: 'silent' }), authenticate: () => null })
  for (const path of ['/things', '/others']) {
    app.post(path, async (request, reply) => {
      const body = request.body as { name: string; fails?: boolean }
      const operation = operationOf(request, String(request.headers['x-as'] ?? 'alice'), body)
      const answer = await db.transaction((tx) =>
        answerOnce(tx, { operation, nowMs: clock.nowMs() }, async () => {
          effects++
          if (body.fails) throw new Error('out of order')
          return {
            status: 201,
            body: JSON.stringify({ made: body.name, effects }),
            thing: `thing-${effects}`,
          }
        }),
      )
      return sendAnswer(reply, answer)
    })
  }
})
afterEach(async () => {
  await app.close()
  await db.close()
})

const post = (key: string | undefined, payload: object, { path = '/things', as = 'alice' } = {}) =>
  app.inject({
    method: 'POST',
    url: path,
    headers: { 'x-as': as, ...(key !== undefined && { 'idempotency-key': key }) },
    payload,
  })

const kept = async () => (await db.read.all('SELECT 1 FROM idempotency')).length
const operation = (key: string, payload: Operation['payload'] = {}): Operation => ({
  userId: 'alice',
  key,
  route: 'POST /things',
  payload,
})

describe('a request under an Idempotency-Key', () => {
  it('is answered the same when it is sent again, and done once', async () => {
    const first = await post('k', { name: 'a', list: [1, { b: 2, c: 3 }] })
    const again = await post('k', { list: [1, { c: 3, b: 2 }], name: 'a' })
    expect([first.statusCode, first.headers['idempotency-replayed']]).toEqual([201, undefined])
    expect([again.statusCode, again.headers['idempotency-replayed']]).toEqual([201, 'true'])
    expect(again.body).toBe(first.body)
    expect(again.headers['content-type']).toBe(first.headers['content-type'])
    expect(effects).toBe(1)
  })

  it('is done once when it is sent many times at once', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => post('k', { name: 'a' })))
    expect(new Set(answers.map((one) => one.body)).size).toBe(1)
    expect(answers.filter((one) => one.headers['idempotency-replayed'] === 'true')).toHaveLength(19)
    expect([effects, await kept()]).toEqual([1, 1])
  })

  it('is a conflict with another payload or on another route, and nothing is done', async () => {
    await post('k', { name: 'a' })
    for (const answer of [
      await post('k', { name: 'b' }),
      await post('k', { name: 'a' }, { path: '/others' }),
    ]) {
      expect([answer.statusCode, answer.json().type]).toEqual([409, 'operation-conflict'])
      expect(answer.headers['content-type']).toContain('application/problem+json')
    }
    expect(effects).toBe(1)
  })

  it('is nobody else’s: the same key of another person is another request', async () => {
    await post('k', { name: 'a' })
    const other = await post('k', { name: 'b' }, { as: 'bob' })
    expect([other.statusCode, other.json()]).toEqual([201, { made: 'b', effects: 2 }])
  })

  it('keeps nothing of a failure, so the repeat may succeed', async () => {
    expect((await post('k', { name: 'a', fails: true })).statusCode).toBe(500)
    expect(await kept()).toBe(0)
    expect((await post('k', { name: 'a' })).statusCode).toBe(201)
  })

  it.each(['', ' ', 'x'.repeat(256), 'a b', 'ä'])('is refused for the key %j', async (key) => {
    expect((await post(key, { name: 'a' })).statusCode).toBe(400)
    expect(effects).toBe(0)
  })

  it('is simply done each time without a key', async () => {
    await post(undefined, { name: 'a' })
    await post(undefined, { name: 'a' })
    expect([effects, await kept()]).toEqual([2, 0])
  })
})

describe('what is kept', () => {
  it('can be read before a transaction is opened', async () => {
    expect(await replay(db.read, operation('k', { name: 'a' }))).toBeNull()
    const first = await post('k', { name: 'a' })
    const given = { status: 201, body: first.body, isReplay: true }
    expect(await replay(db.read, operation('k', { name: 'a' }))).toEqual(given)
    await expect(replay(db.read, operation('k', { name: 'b' }))).rejects.toThrow(OperationConflict)
  })

  it('goes with the thing that was made, and with the person', async () => {
    await post('k1', { name: 'a' })
    await post('k2', { name: 'b' })
    await post('k3', { name: 'c' }, { as: 'bob' })
    await db.transaction((tx) => forgetThing(tx, 'thing-1'))
    expect(await kept()).toBe(2)
    await db.transaction((tx) => forgetAnswersOf(tx, 'alice'))
    expect(await db.read.all('SELECT user_id FROM idempotency')).toEqual([{ user_id: 'bob' }])
  })

  it('is swept after 7 days', async () => {
    await post('old', { name: 'a' })
    clock.advance(KEPT_MS)
    await post('new', { name: 'b' })
    expect(await db.transaction((tx) => sweep(tx, clock.nowMs()))).toBe(0)
    clock.advance(1)
    expect(await db.transaction((tx) => sweep(tx, clock.nowMs()))).toBe(1)
    expect(await db.read.all('SELECT key FROM idempotency')).toEqual([{ key: 'new' }])
  })
})
