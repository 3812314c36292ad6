import { expect, test } from 'vitest'
import { opened, temporaryDir } from '../testing/temporary.ts'
import { ManualClock } from './clock.ts'

// On PostgreSQL: postgres/database.test.ts, where the server itself ends what is under way.
test.each([':memory:', 'file'])('no read is begun in SQLite (%s) once its time is over', async (path) => {
  const clock = new ManualClock()
  const db = opened({ path: path === 'file' ? `${temporaryDir()}/notes.db` : path, clock })
  const seen = db.readWithin({ maxMs: 2_000 }, async (query) => {
    clock.advance(1_999)
    expect(await query.get('SELECT 1 AS one')).toEqual({ one: 1 })
    expect(await query.all('SELECT ? AS two', 2)).toEqual([{ two: 2 }])
    clock.advance(1)
    const late = { code: 'STORE_UNAVAILABLE', reason: 'busy', message: expect.stringContaining('2000 ms') }
    await expect(query.get('SELECT 1')).rejects.toMatchObject(late)
    await query.all('SELECT 1')
  })
  await expect(seen).rejects.toMatchObject({ reason: 'busy' })
  await expect(db.readWithin({ maxMs: 0 }, (query) => query.all('SELECT 1'))).rejects.toMatchObject({
    reason: 'busy',
  })
})

test('nor once whoever asked has given up', async () => {
  const stop = new AbortController()
  const trouble = new Error('nobody waits any more')
  const db = opened({ path: ':memory:', clock: new ManualClock() })
  const seen = db.readWithin({ maxMs: 2_000, signal: stop.signal }, async (query) => {
    await query.all('SELECT 1')
    stop.abort(trouble)
    return query.all('SELECT 1')
  })
  await expect(seen).rejects.toBe(trouble)
})
