import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { driven, opened, temporaryDir, turn, turns } from '../../testing/temporary.ts'
import { ManualClock } from '../clock.ts'
import type { Database, Transaction } from '../database.ts'
import { ConstraintViolation, StoreUnavailable, TransactionClosed } from '../errors.ts'
import type { SqliteOptions } from './database.ts'

const INSERT = 'INSERT INTO notes (text) VALUES (?)'
const write = (text: string) => (tx: Transaction) => tx.run(INSERT, text)

/** A database of notes, once in memory and once on a file; `commits` counts. */
async function notes(place: Place, options: Partial<SqliteOptions> = {}) {
  const clock = new ManualClock()
  const counter = { commits: 0 }
  const aroundCommit: SqliteOptions['aroundCommit'] = (effect) => {
    counter.commits++
    return options.aroundCommit ? options.aroundCommit(effect) : effect()
  }
  const path = place === 'in memory' ? ':memory:' : join(temporaryDir(), 'notes.sqlite')
  const db = opened({ path, clock, ...options, aroundCommit })
  await db.transaction((tx) => tx.run('CREATE TABLE notes (n INTEGER PRIMARY KEY, text TEXT UNIQUE)'))
  counter.commits = 0
  return { db, clock, counter, path }
}

async function textsOf(db: Database): Promise<string[]> {
  return (await db.read.all<{ text: string }>('SELECT text FROM notes ORDER BY n')).map((one) => one.text)
}

/** A transaction that waits for `letGo` in the middle. */
function held(db: Database, text: string) {
  const opened = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  const ended = db.transaction(async (tx) => {
    await tx.run(INSERT, text)
    opened.resolve()
    await gate.promise
  })
  return {
    isOpen: opened.promise,
    letGo: () => gate.resolve(),
    fail: () => gate.reject(new Error('undone')),
    ended,
  }
}

type Place = 'in memory' | 'on a file'

describe.each<Place>(['in memory', 'on a file'])('group commit %s', (place) => {
  /** A transaction that counts its runs; from the given one on it fails, before or after it has written. */
  const counted = (
    db: Database,
    text: string,
    options: { fails?: 'before' | 'after'; runsOnce?: boolean } = {},
  ) => {
    const { fails, runsOnce = false } = options
    const runs = { count: 0 }
    const ended = db.transaction(
      async (tx) => {
        runs.count++
        if (fails === 'before') throw new Error('before')
        await tx.run(INSERT, `${text} ${runs.count}`)
        if (fails === 'after') throw new Error('after')
        return runs.count
      },
      { runsOnce },
    )
    return { runs, ended }
  }

  test('one that fails after it has written undoes the batch: the others run again, and their last run counts', async () => {
    const { db, counter } = await notes(place)
    const first = counted(db, 'first')
    const bad = counted(db, 'bad', { fails: 'after' })
    const last = counted(db, 'last')
    await expect(bad.ended).rejects.toThrow('after')
    expect(await Promise.all([first.ended, last.ended])).toEqual([2, 1])
    expect([bad.runs.count, counter.commits]).toEqual([1, 1])
    expect(await textsOf(db)).toEqual(['first 2', 'last 1'])
  })

  test('one that fails before it has written makes nobody run again', async () => {
    const { db } = await notes(place)
    const first = counted(db, 'first')
    const bad = counted(db, 'bad', { fails: 'before' })
    await expect(bad.ended).rejects.toThrow('before')
    expect(await first.ended).toBe(1)
    expect(await textsOf(db)).toEqual(['first 1'])
  })

  test('one that must run once does, whoever fails before and after it', async () => {
    const { db } = await notes(place)
    const bad = [counted(db, 'bad', { fails: 'after' })]
    const once = counted(db, 'once', { runsOnce: true })
    bad.push(counted(db, 'worse', { fails: 'after' }))
    for (const one of bad) await expect(one.ended).rejects.toThrow('after')
    expect(await once.ended).toBe(1)
    expect([once.runs.count, await textsOf(db)]).toEqual([1, ['once 1']])
  })

  test('transactions that arrive together share one commit', async () => {
    const { db, counter } = await notes(place)
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, n) =>
        db.transaction(async (tx) => {
          await tx.run(INSERT, `note ${n}`)
          return n
        }),
      ),
    )
    expect(answers).toEqual(Array.from({ length: 100 }, (_, n) => n))
    expect(counter.commits).toBe(1)
    expect(await textsOf(db)).toHaveLength(100)
  })

  test('a transaction that comes while another commits waits for the next commit', async () => {
    const gate = Promise.withResolvers<void>()
    let isFirst = false
    const { db, counter } = await notes(place, {
      async aroundCommit(effect) {
        if (isFirst) await gate.promise
        effect()
      },
    })
    isFirst = true
    const first = db.transaction(write('first'))
    await turns()
    isFirst = false
    const others = ['second', 'third'].map((text) => db.transaction(write(text)))
    await turns()
    expect(counter.commits).toBe(1)
    gate.resolve()
    await Promise.all([first, ...others])
    expect(counter.commits).toBe(2)
    expect(await textsOf(db)).toEqual(['first', 'second', 'third'])
  })

  test('however many there are, all are committed, in more than one batch', async () => {
    const { db, counter } = await notes(place)
    await Promise.all(Array.from({ length: 1_300 }, (_, n) => db.transaction(write(`note ${n}`))))
    expect(counter.commits).toBe(3)
    expect(await textsOf(db)).toHaveLength(1_300)
  })

  test('transactions run one after the other: none sees another half done', async () => {
    const { db } = await notes(place)
    const count = async (tx: Transaction) =>
      (await tx.get<{ n: number }>('SELECT count(*) AS n FROM notes'))!.n
    const seen = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        db.transaction(async (tx) => {
          const before = await count(tx)
          await turn()
          await tx.run(INSERT, `a ${n}`)
          await turn()
          await tx.run(INSERT, `b ${n}`)
          return [before, await count(tx)]
        }),
      ),
    )
    expect(seen).toEqual(Array.from({ length: 20 }, (_, n) => [2 * n, 2 * n + 2]))
  })

  const failures: [string, (tx: Transaction) => Promise<unknown>, unknown][] = [
    [
      'rejects',
      async (tx) => {
        await tx.run(INSERT, 'half')
        throw new RangeError('trouble')
      },
      RangeError,
    ],
    [
      'throws before it has become a promise',
      () => {
        throw new RangeError('trouble')
      },
      RangeError,
    ],
    [
      'breaks a constraint',
      async (tx) => {
        await tx.run(INSERT, 'half')
        await tx.run(INSERT, 'half')
      },
      ConstraintViolation,
    ],
    ['runs a statement that is none', (tx) => tx.run('INSERT INTO nowhere VALUES (1)'), Error],
  ]
  test.each(failures)(
    'one that %s leaves nothing and does not touch its neighbours',
    async (_name, work, error) => {
      const { db, counter } = await notes(place)
      const answers = await Promise.allSettled([
        db.transaction(write('before')),
        db.transaction(work),
        db.transaction(write('after')),
      ])
      expect(answers.map((one) => one.status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
      expect((answers[1] as PromiseRejectedResult).reason).toBeInstanceOf(error)
      expect(counter.commits).toBe(1)
      expect(await textsOf(db)).toEqual(['before', 'after'])
    },
  )

  test('a caller who catches a broken constraint can go on', async () => {
    const { db } = await notes(place)
    await db.transaction(async (tx) => {
      await tx.run(INSERT, 'one')
      const refused = tx.run(INSERT, 'one')
      await expect(refused).rejects.toMatchObject({ code: 'CONSTRAINT_VIOLATION', kind: 'unique' })
      await tx.run(INSERT, 'two')
    })
    expect(await textsOf(db)).toEqual(['one', 'two'])
  })

  test('a commit that fails refuses all of its transactions and leaves nothing', async () => {
    let isBroken = false
    const { db } = await notes(place, {
      aroundCommit(effect) {
        if (isBroken) throw new StoreUnavailable('io', 'testing')
        effect()
      },
    })
    isBroken = true
    const hooks: string[] = []
    const answers = await Promise.allSettled(
      ['one', 'two', 'three'].map((text) =>
        db.transaction(async (tx) => {
          tx.afterCommit(() => hooks.push(text))
          await tx.run(INSERT, text)
        }),
      ),
    )
    for (const one of answers)
      expect(one).toMatchObject({ reason: { code: 'STORE_UNAVAILABLE', reason: 'io' } })
    isBroken = false
    expect(await textsOf(db)).toEqual([])
    expect(hooks).toEqual([])
    await db.transaction(write('later'))
    expect(await textsOf(db)).toEqual(['later'])
  })

  test('nobody is told yes, and no hook is called, before the commit has returned', async () => {
    const gate = Promise.withResolvers<void>()
    let isSlow = false
    const { db } = await notes(place, {
      async aroundCommit(effect) {
        if (isSlow) await gate.promise
        effect()
      },
    })
    isSlow = true
    const log: string[] = []
    const work = db.transaction(async (tx) => {
      tx.afterCommit(() => log.push('hook'))
      await tx.run(INSERT, 'one')
    })
    const told = work.then(() => log.push('told'))
    await turns(50)
    expect(log).toEqual([])
    gate.resolve()
    await told
    expect(log).toEqual(['hook', 'told'])
  })

  test('hooks of a transaction that is rolled back are never called', async () => {
    const { db } = await notes(place)
    const hooks: string[] = []
    await db
      .transaction(async (tx) => {
        tx.afterCommit(() => hooks.push('lost'))
        throw new Error('trouble')
      })
      .catch(() => {})
    await db.transaction(async (tx) => tx.afterCommit(() => hooks.push('kept')))
    expect(hooks).toEqual(['kept'])
  })

  test('a hook that throws changes nobody’s answer, and the next transactions go on', async () => {
    const { db } = await notes(place)
    const warned = new Promise<Error>((resolve) => process.once('warning', resolve))
    const failing = db.transaction(async (tx) => {
      await tx.run(INSERT, 'one')
      tx.afterCommit(() => {
        throw new Error('a hook that fails')
      })
    })
    await Promise.all([failing, db.transaction(write('two'))])
    await db.transaction(write('three'))
    expect(await textsOf(db)).toEqual(['one', 'two', 'three'])
    expect((await warned).message).toBe('a hook that fails')
  })

  test('reads never see rows that are not committed', async () => {
    const { db } = await notes(place)
    for (const [text, end] of [
      ['kept', 'letGo'],
      ['undone', 'fail'],
    ] as const) {
      const one = held(db, text)
      one.ended.catch(() => {})
      await one.isOpen
      const read = textsOf(db)
      await turns()
      one[end]()
      await one.ended.catch(() => {})
      // On a file the read did not wait for the writer; in memory it took its turn after it.
      expect(await read).toEqual(place === 'on a file' && text === 'kept' ? [] : ['kept'])
    }
    expect(await textsOf(db)).toEqual(['kept'])
  })

  test('one that waits for something that is not the database is closed after its time; the others go on', async () => {
    const { db, clock } = await notes(place)
    const stuck = held(db, 'stuck')
    const next = db.transaction(write('next'))
    stuck.ended.catch(() => {})
    await stuck.isOpen
    await turns()
    clock.advance(4_900)
    await turns()
    let hasEnded = false
    next.then(() => {
      hasEnded = true
    })
    await turns()
    expect(hasEnded).toBe(false)
    expect(await driven(clock, next, 100)).toBeLessThanOrEqual(5_500)
    await expect(stuck.ended).rejects.toBeInstanceOf(TransactionClosed)
    expect(await textsOf(db)).toEqual(['next'])
  })

  test('what is left of one that was closed can write nothing any more', async () => {
    const { db, clock } = await notes(place)
    const gate = Promise.withResolvers<void>()
    const late = Promise.withResolvers<unknown>()
    const stuck = db.transaction(async (tx) => {
      await gate.promise
      late.resolve(await tx.run(INSERT, 'late').catch((error) => error))
    })
    await driven(clock, stuck, 500)
    await expect(stuck).rejects.toMatchObject({ code: 'TRANSACTION_CLOSED' })
    gate.resolve()
    expect(await late.promise).toBeInstanceOf(TransactionClosed)
    expect(await textsOf(db)).toEqual([])
  })

  test('a transaction cannot be used once it has ended, well or badly', async () => {
    const { db } = await notes(place)
    const leaked: Transaction[] = []
    await db.transaction(async (tx) => leaked.push(tx))
    await db
      .transaction(async (tx) => {
        leaked.push(tx)
        throw new Error('trouble')
      })
      .catch(() => {})
    for (const tx of leaked) {
      await expect(tx.run(INSERT, 'late')).rejects.toBeInstanceOf(TransactionClosed)
      await expect(tx.get('SELECT 1')).rejects.toBeInstanceOf(TransactionClosed)
      await expect(tx.all('SELECT 1')).rejects.toBeInstanceOf(TransactionClosed)
    }
    expect(await textsOf(db)).toEqual([])
  })

  test('close waits for what is under way and refuses what comes after', async () => {
    const { db } = await notes(place)
    const one = held(db, 'under way')
    const queued = db.transaction(write('queued'))
    await one.isOpen
    let isClosed = false
    const closing = db.close().then(() => {
      isClosed = true
    })
    await expect(db.transaction(write('late'))).rejects.toMatchObject({ reason: 'closed' })
    await turns()
    expect(isClosed).toBe(false)
    one.letGo()
    await Promise.all([one.ended, queued, closing])
    await db.close()
  })

  test('after close a read is refused as closed too', async () => {
    const { db } = await notes(place)
    await textsOf(db)
    await db.close()
    await expect(textsOf(db)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', reason: 'closed' })
  })

  test('the change counter changes with every commit that changes something', async () => {
    const { db } = await notes(place)
    const before = await db.changeCounter()
    expect(await db.changeCounter()).toBe(before)
    await db.transaction(write('one'))
    const after = await db.changeCounter()
    expect(after).not.toBe(before)
    expect(await db.changeCounter()).toBe(after)
  })

  test('a full disk refuses the transaction that found it full and leaves nothing of it', async () => {
    const { db } = await notes(place)
    await db.transaction((tx) => tx.get('PRAGMA max_page_count = 20'))
    const answers = await Promise.allSettled([
      db.transaction(write('before')),
      db.transaction(async (tx) => {
        await tx.run(INSERT, 'half')
        await tx.run(INSERT, 'x'.repeat(1_000_000))
      }),
      db.transaction(write('after')),
    ])
    expect(answers[1]).toMatchObject({ reason: { code: 'STORE_UNAVAILABLE', reason: 'full' } })
    // Whoever was told yes is there, and whoever was told no is not.
    const told = ['before', '', 'after'].filter((_, n) => answers[n]!.status === 'fulfilled')
    expect(await textsOf(db)).toEqual(told)
  })

  test('one who goes on after a full disk is told no, and nothing of it is there: not what came before, not what came after', async () => {
    const { db } = await notes(place)
    await db.transaction((tx) => tx.get('PRAGMA max_page_count = 20'))
    const work = db.transaction(async (tx) => {
      await tx.run(INSERT, 'half')
      await tx.run(INSERT, 'x'.repeat(1_000_000)).catch(() => {})
      await tx.run(INSERT, 'other half').catch(() => {})
    })
    await expect(work).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', reason: 'full' })
    expect(await textsOf(db)).toEqual([])
    await db.transaction(write('later'))
    expect((await textsOf(db)).at(-1)).toBe('later')
  })
})
