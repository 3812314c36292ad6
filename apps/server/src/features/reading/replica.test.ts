import { ManualClock, type Queryable, StoreUnavailable } from '@garner/db'
import { expect, test } from 'vitest'
import { stampOf } from './lists.ts'
import { Replica } from './replica.ts'

function setUp() {
  const clock = new ManualClock()
  const state = { version: 7, isAway: false, asked: 0 }
  const query: Queryable = {
    all: async () => [],
    async get<R>() {
      state.asked++
      if (state.isAway) throw new StoreUnavailable('missing', 'testing')
      return { version: state.version, marksVersion: 2, links: 3 } as R
    },
  }
  const replica = new Replica({ readWithin: (_bounds, work) => work(query) }, clock)
  const read = (version: number) =>
    replica.read(
      { group: 'study', minStamp: version === 0 ? 0 : stampOf({ version }), bounds: { maxMs: 2_000 } },
      async (on) => {
        await on.get('SELECT 1')
        return 'of the replica'
      },
    )
  return { clock, state, read }
}

test('is read while it has what is needed; one that is behind is not', async () => {
  const { read, state } = setUp()
  expect(await read(7)).toBe('of the replica')
  expect(await read(8)).toBeUndefined()
  state.version = 8
  expect(await read(8)).toBe('of the replica')
})

test('whoever needs no version asks it for none', async () => {
  const { read, state } = setUp()
  expect(await read(0)).toBe('of the replica')
  expect(state.asked).toBe(1)
})

test('gone, it is left alone for 5 s, and then asked again', async () => {
  const { clock, read, state } = setUp()
  state.isAway = true
  expect(await read(0)).toBeUndefined()
  state.isAway = false
  clock.advance(4_999)
  expect(await read(0)).toBeUndefined()
  expect(state.asked).toBe(1)
  clock.advance(1)
  expect(await read(0)).toBe('of the replica')
})
