import { ManualClock } from '@garner/db'
import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { describeOnPostgres } from '../../db/testing/postgres.ts'
import { createMemoryStore, type MemoryTransaction } from '../src/memory/store.ts'
import { aSequence, BOUNDS, type Command } from './model/commands.ts'
import { assertInvariants, assertSpacing } from './model/invariants.ts'
import { openPostgresSeat } from './model/postgres.ts'
import { details, drain, type OpenSeat, overview, perform, type Seat, type World } from './model/seat.ts'
import { openSqliteSeat } from './model/sqlite.ts'
import { preparedDatabase } from './postgres.ts'

/**
 * Random command sequences on the memory store and on another: the same answers and the same state after every
 * command, and what may never be broken still holds. Shrunk to the shortest sequence that tells them apart.
 */
async function openMemory(): Promise<Seat<MemoryTransaction>> {
  const clock = new ManualClock()
  return { store: createMemoryStore({ clock, bounds: BOUNDS }), clock, close: async () => {} }
}

/** The same sequences at each run; change it to look for others. */
const SEED = 20_261_129
/** Each job is looked at as often: after each command it would be most of the work. */
const DETAILS_EVERY = 15

async function compare<Tx>(other: Seat<Tx>, commands: Command[]): Promise<void> {
  const memory = await openMemory()
  const world: World = { claims: [], ids: [], turn: 0 }
  let before = await overview(memory)
  for (const command of commands) {
    world.turn++
    const expected = await perform(memory, command, world)
    expect(await perform(other, command, world)).toEqual(expected)
    if (command.do === 'claim') world.claims.push(...(expected as World['claims']))
    const after = await overview(memory)
    expect(await overview(other)).toEqual(after)
    assertInvariants(before, after, command)
    if (world.turn % DETAILS_EVERY === 0 || world.turn === commands.length) {
      const each = await details(memory, world, after)
      expect(await details(other, world, after)).toEqual(each)
      assertSpacing(after, each)
    }
    world.ids = after.jobs.map((one) => one.id).reverse()
    before = after
  }
  await other.assertSound?.()
  await drain(memory)
  await drain(other)
  await other.assertSound?.()
}

/** `runs`: as many sequences as take some ten seconds. */
function alike<Tx>(name: string, open: OpenSeat<Tx>, { runs }: { runs: number }): void {
  test(`memory and ${name} answer every sequence of commands alike, and break no invariant`, async () => {
    await fc.assert(
      fc.asyncProperty(aSequence, async (commands) => {
        const other = await open()
        try {
          await compare(other, commands)
        } finally {
          await other.close()
        }
      }),
      // Time is for shrinking above all: on a busy machine the shortest sequence so far is better than a timeout.
      { seed: SEED, numRuns: runs, interruptAfterTimeLimit: 90_000 },
    )
  }, 120_000)
}

alike('SQLite', openSqliteSeat, { runs: 200 })

describeOnPostgres('on PostgreSQL', () => {
  let url: string
  beforeAll(async () => {
    url = await preparedDatabase()
  })
  alike('PostgreSQL', () => openPostgresSeat(url), { runs: 30 })
})
