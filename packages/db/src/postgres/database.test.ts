import pg from 'pg'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { cuttingProxy, silentProxy } from '../../testing/cutting-proxy.ts'
import {
  describeOnPostgres,
  describeThroughPooler,
  pooled,
  temporaryPostgres,
} from '../../testing/postgres.ts'
import { driven } from '../../testing/temporary.ts'
import { ManualClock, systemClock } from '../clock.ts'
import {
  ConstraintViolation,
  LostRace,
  StoreUnavailable,
  TransactionClosed,
  UnstorableText,
} from '../errors.ts'
import { openPostgres, type PostgresOptions, type PostgresTransaction } from './database.ts'

let url: string

function opened(options: Partial<PostgresOptions> = {}) {
  const db = openPostgres({ url, clock: systemClock(), ...options })
  onTestFinished(() => db.close())
  return db
}

const insert = (tx: PostgresTransaction, text: string) => tx.run('INSERT INTO notes (text) VALUES (?)', text)

async function texts(): Promise<string[]> {
  const rows = await opened().read.all<{ text: string }>('SELECT text FROM notes ORDER BY n')
  return rows.map((one) => one.text)
}

/** Two calls wait for each other here, once; when they are run again they pass. */
function meeting(): () => Promise<void> {
  const both = Promise.withResolvers<void>()
  let arrived = 0
  return async () => {
    arrived++
    if (arrived === 2) both.resolve()
    await both.promise
  }
}

describeOnPostgres('openPostgres', () => {
  let admin: pg.Client
  beforeAll(async () => {
    url = await temporaryPostgres()
    admin = new pg.Client({ connectionString: url })
    await admin.connect()
    await admin.query(
      `CREATE TABLE notes (n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, text text NOT NULL UNIQUE,
        about bigint REFERENCES notes (n), CHECK (text <> 'forbidden'))`,
    )
  })
  beforeEach(() => admin.query('TRUNCATE notes RESTART IDENTITY'))
  afterAll(() => admin.end())

  test('a transaction is there when it resolves, and rows come with whole numbers as numbers', async () => {
    const db = opened()
    const answer = await db.transaction(async (tx) => {
      expect(await insert(tx, 'a')).toEqual({ changes: 1 })
      return tx.get('INSERT INTO notes (text) VALUES (?) RETURNING n, text', 'b')
    })
    expect(answer).toEqual({ n: 2, text: 'b' })
    expect(await opened().read.get('SELECT count(*) AS count, max(n) AS n FROM notes')).toEqual({
      count: 2,
      n: 2,
    })
    expect(await db.read.get('SELECT * FROM notes WHERE text = ?', 'z')).toBeUndefined()
  })

  test('one that fails stores nothing, passes its error on and leaves others alone', async () => {
    const db = opened()
    const trouble = new Error('trouble')
    const answers = await Promise.allSettled([
      db.transaction(async (tx) => {
        await insert(tx, 'lost')
        throw trouble
      }),
      db.transaction((tx) => insert(tx, 'kept')),
    ])
    expect(answers.map((one) => one.status)).toEqual(['rejected', 'fulfilled'])
    expect((answers[0] as PromiseRejectedResult).reason).toBe(trouble)
    expect(await texts()).toEqual(['kept'])
  })

  test('statements that are not awaited one by one run in their order', async () => {
    await opened().transaction((tx) => Promise.all(['a', 'b', 'c'].map((one) => insert(tx, one))))
    expect(await texts()).toEqual(['a', 'b', 'c'])
  })

  test('what the schema refuses is a ConstraintViolation, and the transaction ends in it even when caught', async () => {
    const db = opened()
    await db.transaction((tx) => insert(tx, 'a'))
    const wrong = [
      ['unique', "INSERT INTO notes (text) VALUES ('a')"],
      ['foreign-key', "INSERT INTO notes (text, about) VALUES ('b', 77)"],
      ['other', "INSERT INTO notes (text) VALUES ('forbidden')"],
      ['other', 'INSERT INTO notes (text) VALUES (NULL)'],
    ]
    for (const [kind, sql] of wrong) {
      const attempt = db.transaction(async (tx) => {
        await insert(tx, 'before')
        await expect(tx.run(sql!)).rejects.toBeInstanceOf(ConstraintViolation)
        await expect(insert(tx, 'after')).rejects.toBeInstanceOf(ConstraintViolation)
        return 'went on'
      })
      await expect(attempt).rejects.toMatchObject({ code: 'CONSTRAINT_VIOLATION', kind })
      await expect(db.autocommit.all(sql!)).rejects.toMatchObject({ code: 'CONSTRAINT_VIOLATION', kind })
    }
    expect(await texts()).toEqual(['a'])
  })

  test('two transactions that lock each other out both go through: one is run again', async () => {
    const db = opened()
    await db.transaction((tx) => Promise.all([insert(tx, 'a'), insert(tx, 'b')]))
    const meet = meeting()
    let runs = 0
    const change = (first: string, second: string) =>
      db.transaction(async (tx) => {
        runs++
        await tx.run("UPDATE notes SET text = text || '!' WHERE text LIKE ? || '%'", first)
        if (runs <= 2) await meet()
        await tx.run("UPDATE notes SET text = text || '!' WHERE text LIKE ? || '%'", second)
      })
    await Promise.all([change('a', 'b'), change('b', 'a')])
    // More often when the second run gets the row before the one that waited for it: they lock each other out anew.
    expect(runs).toBeGreaterThanOrEqual(3)
    expect((await texts()).sort()).toEqual(['a!!', 'b!!'])
  })

  test('one that must run once is not run again: StoreUnavailable, and the other goes through', async () => {
    const db = opened()
    await db.transaction((tx) => Promise.all([insert(tx, 'a'), insert(tx, 'b')]))
    const meet = meeting()
    const change = (first: string, second: string) =>
      db.transaction(
        async (tx) => {
          await tx.run("UPDATE notes SET text = text || '!' WHERE text LIKE ? || '%'", first)
          await meet()
          await tx.run("UPDATE notes SET text = text || '!' WHERE text LIKE ? || '%'", second)
        },
        { runsOnce: true },
      )
    const answers = await Promise.allSettled([change('a', 'b'), change('b', 'a')])
    const refused = answers.filter((one) => one.status === 'rejected')
    expect(refused).toHaveLength(1)
    expect(refused[0]!.reason).toMatchObject({ code: 'STORE_UNAVAILABLE', reason: 'busy' })
    expect((await texts()).sort()).toEqual(['a!', 'b!'])
  })

  test('a transaction that has lost a race is run again; one that loses every time says busy', async () => {
    const db = opened()
    let tries = 0
    await db.transaction(async (tx) => {
      await insert(tx, `try ${++tries}`)
      if (tries < 3) throw new LostRace('a note')
    })
    expect(await texts()).toEqual(['try 3'])
    const losing = db.transaction(async (tx) => {
      await insert(tx, `lost ${++tries}`)
      throw new LostRace('a note')
    })
    await expect(losing).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', reason: 'busy' })
    expect(await texts()).toEqual(['try 3'])
  })

  test('turns of one name are taken one after the other, until each transaction has ended; others go on', async () => {
    const [db, other] = [opened(), opened()]
    const order: string[] = []
    const hasTurn = Promise.withResolvers<void>()
    const mayEnd = Promise.withResolvers<void>()
    const first = db.transaction(async (tx) => {
      await tx.takeTurn('notes of alice')
      hasTurn.resolve()
      await mayEnd.promise
      await insert(tx, 'first')
      order.push('first')
    })
    await hasTurn.promise
    const second = other.transaction(async (tx) => {
      await tx.takeTurn('notes of alice')
      order.push(`second sees ${(await tx.all('SELECT 1 FROM notes')).length}`)
    })
    await other.transaction((tx) => tx.takeTurn('notes of bob'))
    order.push('bob')
    mayEnd.resolve()
    await Promise.all([first, second])
    expect(order).toEqual(['bob', 'first', 'second sees 1'])
  })

  test('a NUL character is neither stored nor found, and says so', async () => {
    const db = opened()
    await expect(db.transaction((tx) => insert(tx, 'a\0b'))).rejects.toBeInstanceOf(UnstorableText)
    await expect(db.read.get('SELECT 1 FROM notes WHERE text = ?', '\0')).rejects.toBeInstanceOf(
      UnstorableText,
    )
    expect(await texts()).toEqual([])
  })

  test('a statement that takes too long is given up, and the connection goes on', async () => {
    const db = opened({ statementMs: 50, connections: 1 })
    for (const attempt of [
      db.transaction((tx) => tx.all('SELECT pg_sleep(60)')),
      db.read.all('SELECT pg_sleep(60)'),
      db.autocommit.all('SELECT pg_sleep(60)'),
    ]) {
      await expect(attempt).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', reason: 'busy' })
    }
    await db.transaction((tx) => insert(tx, 'a'))
    expect(await texts()).toEqual(['a'])
  })

  test('reads that must be over by a time: each is given up by the server once it is, and the connection goes on', async () => {
    const db = opened({ connections: 1 })
    const sleeping =
      "SELECT 1 FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep(60)%' AND state = 'active'"
    for (const before of ['SELECT 1', "SELECT 'nothing that takes time'"]) {
      const attempt = db.readWithin({ maxMs: 60 }, async (query) => {
        await query.all(before)
        return query.all('SELECT pg_sleep(60)')
      })
      await expect(attempt).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', reason: 'busy' })
      expect((await admin.query(sleeping)).rowCount).toBe(0)
    }
    expect(await db.read.get("SELECT current_setting('statement_timeout') AS ms")).toEqual({ ms: '10s' })
    await db.transaction((tx) => insert(tx, 'a'))
  })

  test('reads that must be over by a time: the server is told what is left, to a fifth of a second', async () => {
    const clock = new ManualClock()
    const db = opened({ clock, statementMs: 1_500, connections: 1 })
    const told = await db.readWithin({ maxMs: 2_000 }, async (query) => {
      const found: unknown[] = []
      for (const ms of [0, 500, 199, 1, 1_000, 299]) {
        clock.advance(ms)
        found.push((await query.get<{ ms: string }>("SELECT current_setting('statement_timeout') AS ms"))?.ms)
      }
      clock.advance(1)
      await expect(query.all('SELECT 1')).rejects.toMatchObject({ reason: 'busy' })
      return found
    })
    expect(told).toEqual(['1500ms', '1500ms', '1500ms', '1300ms', '300ms', '1ms'])
    expect(await db.read.get("SELECT current_setting('statement_timeout') AS ms")).toEqual({ ms: '1500ms' })
  })

  test('reads that must be over by a time: nothing more is asked once the signal has aborted', async () => {
    const db = opened({ connections: 1 })
    const stop = new AbortController()
    const trouble = new Error('nobody waits any more')
    const attempt = db.readWithin({ maxMs: 60_000, signal: stop.signal }, async (query) => {
      await query.all('SELECT 1')
      stop.abort(trouble)
      return query.all('SELECT pg_sleep(60)')
    })
    await expect(attempt).rejects.toBe(trouble)
    await db.transaction((tx) => insert(tx, 'a'))
  })

  test('reads that must be over by a time: they cannot write, and what failed first is what is said', async () => {
    const db = opened({ connections: 1 })
    const attempt = db.readWithin({ maxMs: 60_000 }, async (query) => {
      const sql = "INSERT INTO notes (text) VALUES ('a')"
      await expect(query.all(sql)).rejects.toMatchObject({ reason: 'readonly' })
      await query.all('SELECT 1')
    })
    await expect(attempt).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', reason: 'readonly' })
    await db.transaction((tx) => insert(tx, 'b'))
    expect(await texts()).toEqual(['b'])
  })

  test('reads that must be over by a time: one that waits for something else, and one that is cut off, leave nothing', async () => {
    const clock = new ManualClock()
    const db = opened({ clock, connections: 1 })
    const point = Promise.withResolvers<void>()
    const end = Promise.withResolvers<void>()
    const idle = db.readWithin({ maxMs: 60_000 }, async (query) => {
      await query.all('SELECT 1')
      point.resolve()
      await end.promise
      return query.all('SELECT 1')
    })
    await point.promise
    for (let n = 0; n < 8; n++) {
      clock.advance(1_000)
      await new Promise(setImmediate)
    }
    end.resolve()
    await expect(idle).rejects.toMatchObject({ reason: 'missing' })
    const cut = db.readWithin({ maxMs: 60_000 }, async (query) => {
      const { pid } = (await query.get<{ pid: number }>('SELECT pg_backend_pid() AS pid'))!
      await admin.query('SELECT pg_terminate_backend($1)', [pid])
      return query.all('SELECT 1')
    })
    await expect(cut).rejects.toMatchObject({ reason: 'missing' })
    await db.transaction((tx) => insert(tx, 'a'))
  })

  test('a transaction whose work waits for something else is given up, and its locks are free', async () => {
    const clock = new ManualClock()
    const db = opened({ clock })
    await db.transaction((tx) => insert(tx, 'a'))
    const held = Promise.withResolvers<PostgresTransaction>()
    const stuck = db.transaction(async (tx) => {
      await tx.run("UPDATE notes SET text = 'b'")
      held.resolve(tx)
      await new Promise(() => {})
    })
    const tx = await held.promise
    const tookMs = await driven(
      clock,
      stuck.catch(() => {}),
      500,
    )
    expect(tookMs).toBeGreaterThanOrEqual(5_000)
    await expect(stuck).rejects.toBeInstanceOf(TransactionClosed)
    await expect(tx.run('SELECT 1')).rejects.toBeInstanceOf(TransactionClosed)
    await db.transaction((other) => other.run("UPDATE notes SET text = 'c'"))
    expect(await texts()).toEqual(['c'])
  })

  test('a transaction whose statement takes long is not given up for that', async () => {
    const clock = new ManualClock()
    const db = opened({ clock, statementMs: 60_000 })
    const blocker = await admin.query('BEGIN; LOCK TABLE notes').then(() => admin)
    const waiting = db.transaction((tx) => insert(tx, 'a'))
    while ((await admin.query('SELECT FROM pg_locks WHERE NOT granted')).rowCount === 0) {}
    for (let n = 0; n < 20; n++) {
      clock.advance(1_000)
      await new Promise(setImmediate)
    }
    await blocker.query('COMMIT')
    expect(await waiting).toEqual({ changes: 1 })
  })

  test('a transaction that has ended refuses what comes late, also through its connection', async () => {
    const db = opened()
    let late: PostgresTransaction | undefined
    await db.transaction(async (tx) => {
      late = tx
      expect((await tx.client.query('SELECT $1::int AS one', [1])).rows).toEqual([{ one: 1 }])
    })
    for (const attempt of [
      () => late!.run('SELECT 1'),
      () => late!.all('SELECT 1'),
      () => late!.client.query('SELECT 1'),
      async () => late!.afterCommit(() => {}),
    ]) {
      await expect(attempt()).rejects.toBeInstanceOf(TransactionClosed)
    }
  })

  test('what is asked of the connection is part of the transaction', async () => {
    const db = opened()
    const attempt = db.transaction(async (tx) => {
      await tx.client.query("INSERT INTO notes (text) VALUES ('lost')")
      throw new Error('trouble')
    })
    await expect(attempt).rejects.toThrow('trouble')
    await db.transaction((tx) =>
      tx.client.query({ text: 'INSERT INTO notes (text) VALUES ($1)', values: ['kept'] }),
    )
    expect(await texts()).toEqual(['kept'])
  })

  test('last: the commit goes out with the last statement, and with a failed one nothing is stored', async () => {
    const db = opened()
    const rows = await db.transaction((tx) =>
      tx.last('INSERT INTO notes (text) VALUES (?) RETURNING text', 'a'),
    )
    expect(rows).toEqual([{ text: 'a' }])
    const attempt = db.transaction(async (tx) => {
      await insert(tx, 'b')
      await tx.last('INSERT INTO notes (text) VALUES (?)', 'a')
    })
    await expect(attempt).rejects.toMatchObject({ code: 'CONSTRAINT_VIOLATION' })
    const late = db.transaction(async (tx) => {
      await tx.last('INSERT INTO notes (text) VALUES (?)', 'c')
      await insert(tx, 'd')
    })
    await expect(late).rejects.toBeInstanceOf(TransactionClosed)
    expect(await texts()).toEqual(['a', 'c'])
  })

  test('hints are given once the transaction is there, and never for one that failed', async () => {
    const db = opened()
    const seen: string[] = []
    await db.transaction(async (tx) => {
      await insert(tx, 'a')
      tx.afterCommit(() => seen.push('kept'))
      expect(seen).toEqual([])
    })
    const failing = db.transaction(async (tx) => {
      tx.afterCommit(() => seen.push('lost'))
      throw new Error('trouble')
    })
    await expect(failing).rejects.toThrow('trouble')
    expect(seen).toEqual(['kept'])
  })

  test('killed in the middle: StoreUnavailable, nothing is stored, and the next one goes through', async () => {
    const db = opened({ connections: 1 })
    const attempt = db.transaction(async (tx) => {
      await insert(tx, 'lost')
      const { pid } = (await tx.get<{ pid: number }>('SELECT pg_backend_pid() AS pid'))!
      await admin.query('SELECT pg_terminate_backend($1)', [pid])
      await insert(tx, 'lost too')
    })
    await expect(attempt).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', reason: 'missing' })
    await db.transaction((tx) => insert(tx, 'kept'))
    expect(await texts()).toEqual(['kept'])
  })

  test('cut after COMMIT was sent: nobody knows, and it says so; it is stored', async () => {
    const proxy = await cuttingProxy(url)
    const db = opened({ url: proxy.url })
    proxy.cutAnswerTo('COMMIT\0') // not the one of READ COMMITTED
    const attempt = db.transaction((tx) => insert(tx, 'a'))
    await expect(attempt).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      reason: 'unanswered',
      message: expect.stringContaining('may have been stored'),
    })
    await proxy.hasCut()
    expect(await texts()).toEqual(['a'])
    proxy.cutAnswerTo('INSERT')
    const single = db.autocommit.all("INSERT INTO notes (text) VALUES ('b')")
    await expect(single).rejects.toMatchObject({ reason: 'unanswered' })
    expect(await texts()).toEqual(['a', 'b'])
  })

  test('cut before COMMIT was sent: nothing is stored', async () => {
    const proxy = await cuttingProxy(url)
    const db = opened({ url: proxy.url })
    proxy.cutAnswerTo('INSERT')
    const attempt = db.transaction((tx) => insert(tx, 'a'))
    await expect(attempt).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', reason: 'missing' })
    expect(await texts()).toEqual([])
  })

  test('a server that is gone without a word is given up, and what it was asked may have been done', async () => {
    const clock = new ManualClock()
    const wire = await silentProxy(url)
    const db = opened({ url: wire.url, clock, statementMs: 3_000, connections: 4 })
    await Promise.all([1, 2, 3, 4].map(() => db.read.all('SELECT pg_sleep(0.1)'))) // all of them are there
    const point = Promise.withResolvers<void>()
    const inside = db.transaction(async (tx) => {
      await insert(tx, 'a')
      point.resolve()
      await tx.all('SELECT pg_sleep(0)')
    })
    await point.promise
    wire.silence()
    const attempts = [
      inside,
      db.read.all('SELECT 1'),
      db.readWithin({ maxMs: 60_000 }, (query) => query.all('SELECT 1')),
      db.autocommit.all('SELECT 1'),
    ].map((one) => one.catch((error) => error))
    const tookMs = await driven(clock, Promise.all(attempts), 500)
    expect(tookMs).toBeGreaterThanOrEqual(5_000)
    expect(tookMs).toBeLessThan(8_000)
    expect((await Promise.all(attempts)).map((one) => one.reason)).toEqual([
      ...['missing', 'missing', 'missing', 'unanswered'],
    ])
  })

  test('a role that is not let in: StoreUnavailable', async () => {
    const stranger = new URL(url)
    stranger.username = 'nobody_of_that_name'
    const asking = opened({ url: stranger.href }).read.get('SELECT 1')
    await expect(asking).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', reason: 'missing' })
  })

  test('where nobody listens: StoreUnavailable', async () => {
    const db = opened({ url: 'postgres://postgres@127.0.0.1:1/nowhere' })
    for (const attempt of [
      db.read.all('SELECT 1'),
      db.transaction((tx) => insert(tx, 'a')),
      db.changeCounter(),
    ]) {
      await expect(attempt).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', reason: 'missing' })
    }
    await expect(db.listen('notes', () => {})).rejects.toBeInstanceOf(StoreUnavailable)
  })

  test('changeCounter: another number after every commit, from whichever connection', async () => {
    const [db, other] = [opened(), opened()]
    const seen = [await db.changeCounter()]
    for (const by of [db, other, db]) {
      await by.transaction((tx) => insert(tx, `${seen.length}`))
      seen.push(await db.changeCounter())
    }
    expect(new Set(seen).size).toBe(4)
    for (const one of seen) expect(Number.isSafeInteger(one)).toBe(true)
  })

  test('close waits for what is under way and refuses what comes after', async () => {
    const db = opened()
    const point = Promise.withResolvers<void>()
    const running = db.transaction(async (tx) => {
      await insert(tx, 'a')
      await point.promise
    })
    const closing = db.close()
    await expect(db.read.all('SELECT 1')).rejects.toMatchObject({ reason: 'closed' })
    point.resolve()
    await Promise.all([running, closing])
    expect(await texts()).toEqual(['a'])
  })

  test('statements are prepared by name, and behind a pooler none is', async () => {
    const prepared = "SELECT count(*) AS count FROM pg_prepared_statements WHERE name LIKE 'garner%'"
    for (const [isPooled, expected] of [
      [false, 2],
      [true, 0],
    ] as const) {
      const db = opened({ isPooled, connections: 1 })
      await db.read.all('SELECT 1')
      expect(await db.read.get(prepared)).toEqual({ count: expected })
    }
  })
})

describeThroughPooler('openPostgres through a pooler', () => {
  let through: string
  beforeAll(async () => {
    through = await pooled(await temporaryPostgres())
  })
  const openedThrough = () => opened({ url: through, isPooled: true, connections: 20 })

  test('transactions and statements need no session', async () => {
    const db = openedThrough()
    await db.transaction((tx) => tx.run('CREATE TABLE notes (text text)'))
    await Promise.all(
      Array.from({ length: 40 }, (_, n) =>
        n % 2
          ? db.transaction(async (tx) => {
              await tx.run('INSERT INTO notes VALUES (?)', `${n}`)
              expect(await tx.get('SELECT count(*) AS count FROM notes WHERE text = ?', `${n}`)).toEqual({
                count: 1,
              })
            })
          : db.autocommit.all('INSERT INTO notes VALUES (?)', `${n}`),
      ),
    )
    expect(await db.read.get('SELECT count(*) AS count FROM notes')).toEqual({ count: 40 })
  })

  test('reads that must be over by a time are, and leave their timeout with nobody else', async () => {
    const db = openedThrough()
    const ms = "SELECT current_setting('statement_timeout') AS ms"
    const bounded = Array.from({ length: 20 }, () =>
      db.readWithin({ maxMs: 60_000 }, async (query) => [await query.get(ms), await query.get(ms)]),
    )
    for (const [first, second] of await Promise.all(bounded)) expect(second).toEqual(first)
    const late = db.readWithin({ maxMs: 60 }, (query) => query.all('SELECT pg_sleep(60)'))
    await expect(late).rejects.toMatchObject({ reason: 'busy' })
    for (const one of await Promise.all(Array.from({ length: 20 }, () => db.read.get(ms))))
      expect(one).toEqual({ ms: '0' })
  })
})
