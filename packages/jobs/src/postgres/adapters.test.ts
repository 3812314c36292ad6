import type { Transaction } from '@garner/db'
import { drizzle as drizzleOnPg } from 'drizzle-orm/node-postgres'
import { integer, pgTable, text } from 'drizzle-orm/pg-core'
import { drizzle as drizzleOnPostgresJs } from 'drizzle-orm/postgres-js'
import { type Generated, Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import postgres from 'postgres'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { describeOnPostgres } from '../../../db/testing/postgres.ts'
import {
  claim,
  openedStores,
  pendingOf,
  preparedDatabase,
  submission,
  submissions,
} from '../../testing/postgres.ts'
import { OperationConflict, QueueFull } from '../errors.ts'
import { fromDrizzle, fromKysely, fromPg, fromPostgresJs } from './adapters.ts'

interface Tables {
  caller_rows: { n: Generated<number>; text: string }
}

const callerRows = pgTable('caller_rows', {
  n: integer('n').primaryKey().generatedAlwaysAsIdentity(),
  text: text('text').notNull(),
})

/** A caller with a library of its own: runs `work` in one of its transactions, after a row that it writes itself. */
type Caller = (work: (tx: Transaction) => Promise<void>) => Promise<void>

const callers: Record<string, (url: string) => Caller> = {
  pg(url) {
    const pool = new pg.Pool({ connectionString: url })
    onTestFinished(() => pool.end())
    return async (work) => {
      const client = await pool.connect()
      try {
        await client.query('BEGIN')
        await client.query("INSERT INTO caller_rows (text) VALUES ('mine')")
        await work(fromPg(client))
        await client.query('COMMIT')
      } catch (error) {
        await client.query('ROLLBACK')
        throw error
      } finally {
        client.release()
      }
    }
  },
  'postgres.js'(url) {
    const sql = postgres(url, { max: 2 })
    onTestFinished(() => sql.end())
    return async (work) => {
      await sql.begin(async (trx) => {
        await trx`INSERT INTO caller_rows (text) VALUES (${'mine'})`
        await work(fromPostgresJs(trx))
      })
    }
  },
  Kysely(url) {
    const pool = new pg.Pool({ connectionString: url })
    const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
    onTestFinished(() => db.destroy())
    return (work) =>
      db.transaction().execute(async (trx) => {
        await trx.insertInto('caller_rows').values({ text: 'mine' }).execute()
        await work(fromKysely(trx))
      })
  },
  'Drizzle on pg'(url) {
    const pool = new pg.Pool({ connectionString: url })
    onTestFinished(() => pool.end())
    const db = drizzleOnPg(pool)
    return (work) =>
      db.transaction(async (tx) => {
        await tx.insert(callerRows).values({ text: 'mine' })
        await work(fromDrizzle(tx))
      })
  },
  'Drizzle on postgres.js'(url) {
    const sql = postgres(url, { max: 2 })
    onTestFinished(() => sql.end())
    const db = drizzleOnPostgresJs(sql)
    return (work) =>
      db.transaction(async (tx) => {
        await tx.insert(callerRows).values({ text: 'mine' })
        await work(fromDrizzle(tx))
      })
  },
}

describeOnPostgres('a caller’s own transaction', () => {
  let url: string
  beforeAll(async () => {
    url = await preparedDatabase()
  })

  for (const [name, callerOn] of Object.entries(callers)) {
    test(`${name}: jobs are there exactly if it commits`, async () => {
      const { store, rows } = await openedStores(url)
      const caller = callerOn(url)
      const payload = { text: 'ü €𝄞 "\\ \u0000\n', list: [1, null] }
      const one = submission({ payload, operationId: 'op-1', key: 'example.org', priority: -1 })
      const many = submissions(3, { tenant: 'bob' })
      await caller(async (tx) => {
        const { job, isRepeat } = await store.submit(tx, one)
        expect(isRepeat).toBe(false)
        expect(job).toMatchObject({ id: one.id, payload, rank: 1_000, epoch: 0, priority: -1 })
        expect((await store.submitMany(tx, many)).map(({ job }) => job.rank)).toEqual([1_000, 2_000, 3_000])
      })
      const failing = caller(async (tx) => {
        await store.submit(tx, submission())
        throw new Error('trouble')
      })
      await expect(failing).rejects.toThrow('trouble')
      expect(await rows()).toEqual(['mine'])
      expect((await store.list({ limit: 10 })).map(({ id }) => id).sort()).toEqual([
        one.id,
        ...many.map(({ id }) => id),
      ])
      expect((await store.get(one.id))!.job.payload).toEqual(payload)
    })

    test(`${name}: a repeat is recognised, and what is refused leaves it usable`, async () => {
      const { store, rows, db } = await openedStores(url, { bounds: { perTenant: 2 } })
      const caller = callerOn(url)
      await store.accept([submission({ operationId: 'op-1', payload: 1 })])
      await caller(async (tx) => {
        const again = await store.submit(tx, submission({ operationId: 'op-1', payload: 1 }))
        expect(again).toMatchObject({
          isRepeat: true,
          job: { payload: 1, rank: 1_000, runAtMs: expect.any(Number) },
        })
        const other = submission({ operationId: 'op-1', payload: 2 })
        await expect(store.submit(tx, other)).rejects.toBeInstanceOf(OperationConflict)
        await expect(store.submitMany(tx, submissions(2))).rejects.toBeInstanceOf(QueueFull)
        await store.submit(tx, submission())
      })
      expect(await rows()).toEqual(['mine'])
      expect(await pendingOf(db)).toEqual({ jobs: 2, total: 2, tenants: 2 })
    })

    test(`${name}: an operator’s words, in its transaction`, async () => {
      const { store, clock } = await openedStores(url)
      const caller = callerOn(url)
      const [dead, waiting, moved, gone] = submissions(4).map((one, n) =>
        n < 2 ? one : { ...one, subject: `${n}`, subjectVersion: 1 },
      )
      await store.accept([dead!])
      await store.publish((await claim(store))[0]!, { state: 'dead', reason: 'http_404' })
      await store.accept([waiting!, moved!, gone!])
      await caller(async (tx) => {
        expect(await store.repair(tx, dead!.id)).toMatchObject({ state: 'ready', generation: 2, epoch: 1 })
        expect(await store.cancel(tx, waiting!.id)).toBe(true)
        expect(await store.discard(tx, waiting!.id)).toBe(false)
        expect(await store.supersede(tx, { subject: '2', version: 2 })).toBe(1)
        expect(await store.forget(tx, '3')).toBe(1)
        expect(await store.forgetTenant(tx, 'nobody')).toBe(0)
        await store.setWeight(tx, 'bob', 2)
        await store.pause(tx, 'photo', { reason: 'trouble', untilMs: clock.nowMs() + 1_000 })
        await store.pause(tx, 'title', { reason: 'trouble' })
        expect(await store.resume(tx, 'title')).toBe(true)
        const digest = { name: 'digest', kind: 'title', tenant: 'bob', payload: {}, cron: '0 7 * * *' }
        await store.schedule(tx, { ...digest, deadlineMs: 1_000 })
        await store.schedule(tx, { ...digest, payload: [1], deadlineMs: 1_000 })
        expect(await store.unschedule(tx, 'nothing')).toBe(false)
      })
      expect(await store.paused()).toMatchObject([{ kind: 'photo', untilMs: clock.nowMs() + 1_000 }])
      expect(await store.schedules()).toMatchObject([{ name: 'digest', payload: [1] }])
      expect((await claim(store)).map(({ job }) => job.id)).toEqual([dead!.id])
    })
  }
})

describeOnPostgres('a handler’s writes', () => {
  let url: string
  beforeAll(async () => {
    url = await preparedDatabase()
  })

  test('with Kysely, in the publication’s transaction', async () => {
    const { store, rows } = await openedStores(url)
    await store.accept(submissions(2))
    const [one, other] = await claim(store)
    const publish = (of: typeof one, trouble?: Error) =>
      store.publish(of!, { state: 'succeeded' }, async ({ client }) => {
        const pool = { connect: async () => client, end: async () => {}, options: {} }
        const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
        await db.insertInto('caller_rows').values({ text: of!.job.id }).execute()
        expect(await db.selectFrom('caller_rows').select('text').execute()).toContainEqual({
          text: of!.job.id,
        })
        if (trouble) throw trouble
        return undefined
      })
    expect(await publish(one)).toBe('published')
    await expect(publish(other, new Error('trouble'))).rejects.toThrow('trouble')
    expect(await rows()).toEqual([one!.job.id])
    expect(await publish(other)).toBe('published')
  })

  test('with Drizzle, in the publication’s transaction', async () => {
    const { store, rows } = await openedStores(url)
    await store.accept(submissions(2))
    const [one, other] = await claim(store)
    const publish = (of: typeof one, trouble?: Error) =>
      store.publish(of!, { state: 'succeeded' }, async ({ client }) => {
        const db = drizzleOnPg(client)
        await db.insert(callerRows).values({ text: of!.job.id })
        expect(await db.select({ text: callerRows.text }).from(callerRows)).toContainEqual({
          text: of!.job.id,
        })
        if (trouble) throw trouble
        return undefined
      })
    expect(await publish(one)).toBe('published')
    await expect(publish(other, new Error('trouble'))).rejects.toThrow('trouble')
    expect(await rows()).toEqual([one!.job.id])
    expect(await publish(other)).toBe('published')
  })
})
