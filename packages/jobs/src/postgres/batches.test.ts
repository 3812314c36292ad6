import { beforeAll, expect, test } from 'vitest'
import { countingProxy } from '../../../db/testing/cutting-proxy.ts'
import { describeOnPostgres } from '../../../db/testing/postgres.ts'
import {
  claim,
  openedStores,
  preparedDatabase,
  submission,
  submissions,
  writeRow,
} from '../../testing/postgres.ts'

const SUCCEEDED = { state: 'succeeded' } as const

/** Calls that arrive together share a commit. */
describeOnPostgres('batches', () => {
  let url: string
  beforeAll(async () => {
    url = await preparedDatabase()
  })

  /** A store that counts its commits. */
  async function counting() {
    let commits = 0
    const opened = await openedStores(url, {
      options: {
        aroundCommit: (effect) => {
          commits++
          return effect()
        },
      },
    })
    return {
      ...opened,
      commitsOf: async (work: () => Promise<unknown>) => {
        const before = commits
        await work()
        return commits - before
      },
    }
  }

  test('fifty submissions at once are one commit, one alone is one statement', async () => {
    const { store, commitsOf } = await counting()
    await store.accept([submission()])
    const fifty = Array.from({ length: 50 }, () => store.accept.bind(null, [submission()]))
    expect(await commitsOf(() => Promise.all(fifty.map((one) => one())))).toBe(1)
    expect(await commitsOf(() => store.accept([submission()]))).toBe(1)
  })

  test('what comes while a batch is under way goes into the next one', async () => {
    const { store, commitsOf } = await counting()
    await store.accept([submission()])
    const commits = await commitsOf(async () => {
      const first = store.accept([submission()])
      await new Promise(setImmediate)
      const others = Array.from({ length: 20 }, () => store.accept([submission()]))
      await Promise.all([first, ...others])
    })
    expect(commits).toBe(2)
  })

  test('when one of many is refused, the others still share a commit', async () => {
    const { store, commitsOf } = await counting()
    await store.accept([submission({ operationId: 'op-1', payload: 1 })])
    const commits = await commitsOf(async () => {
      const answers = await Promise.allSettled([
        ...submissions(20).map((one) => store.accept([one])),
        store.accept([submission({ operationId: 'op-1', payload: 2 })]),
      ])
      expect(answers.filter((one) => one.status === 'fulfilled')).toHaveLength(20)
    })
    // The refused batch, which wrote nothing, and the one that counts.
    expect(commits).toBe(2)
  })

  test('one that cannot be stored at all takes nothing of the others with it', async () => {
    const { store } = await counting()
    const [taken] = submissions(1)
    await store.accept([taken!])
    const answers = await Promise.allSettled([
      store.accept([submission()]),
      store.accept([{ ...submission(), id: taken!.id }]),
      store.accept([submission()]),
    ])
    expect(answers.map((one) => one.status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(await store.list({ limit: 10 })).toHaveLength(3)
  })

  test('500 publications at once are one commit; with writes of their own a few', async () => {
    const { store, commitsOf, rows } = await counting()
    await store.accept(submissions(800))
    const claims = await claim(store)
    const plain = claims.splice(0, 500)
    expect(await commitsOf(() => Promise.all(plain.map((one) => store.publish(one, SUCCEEDED))))).toBe(1)
    const commits = await commitsOf(() =>
      Promise.all(claims.map((one) => store.publish(one, SUCCEEDED, (tx) => writeRow(tx, one.job.id)))),
    )
    expect(commits).toBeLessThanOrEqual(4)
    expect(await rows()).toHaveLength(300)
  })
})

/** Writes of one statement each go out together; none is ever interleaved with another. */
describeOnPostgres('writes of one batch', () => {
  let url: string
  beforeAll(async () => {
    url = await preparedDatabase()
  })

  async function claimed(count: number, { via = url, connections = 6 } = {}) {
    const { store, ...others } = await openedStores(via, { options: { connections } })
    await store.accept(submissions(count))
    return { ...others, store, claims: await claim(store) }
  }

  test('of one statement each are a few round trips, in the order they were said', async () => {
    const wire = await countingProxy(url)
    // So few that there is one batch at a time.
    const { store, claims, rows } = await claimed(100, { via: wire.url, connections: 3 })
    const before = wire.sent()
    const answers = await Promise.all(
      claims.map((one) => store.publish(one, SUCCEEDED, (tx) => writeRow(tx, one.job.id))),
    )
    expect(new Set(answers)).toEqual(new Set(['published']))
    expect(wire.sent() - before).toBeLessThan(20)
    expect(await rows()).toEqual(claims.map((one) => one.job.id))
  })

  test('of several statements each run one after the other: what one has read, none has changed', async () => {
    const { store, claims, db } = await claimed(60)
    await db.transaction(async (tx) => {
      await tx.run('CREATE TABLE IF NOT EXISTS tally (n integer NOT NULL)')
      await tx.run('DELETE FROM tally')
      await tx.run('INSERT INTO tally VALUES (0)')
    })
    let runs = 0
    const publishAll = (some: typeof claims) =>
      Promise.all(
        some.map((one) =>
          store.publish(one, SUCCEEDED, async (tx) => {
            runs++
            const { n } = (await tx.get<{ n: number }>('SELECT n FROM tally FOR UPDATE'))!
            await tx.client.query('UPDATE tally SET n = $1', [n + 1])
            return undefined
          }),
        ),
      )
    await publishAll(claims.slice(0, 30))
    expect(await db.read.get('SELECT n FROM tally')).toEqual({ n: 30 })
    // From then on it is known that this kind takes more than one.
    runs = 0
    await publishAll(claims.slice(30))
    expect(await db.read.get('SELECT n FROM tally')).toEqual({ n: 60 })
    expect(runs).toBe(30)
  })

  test('some of one statement and some of several, some of none and some that wait first', async () => {
    const { store, claims, rows } = await claimed(40)
    const answers = await Promise.all(
      claims.map((one, n) =>
        store.publish(one, SUCCEEDED, async (tx) => {
          if (n % 4 === 1) await new Promise(setImmediate)
          if (n % 4 === 2) await tx.all('SELECT 1')
          if (n % 4 !== 3) await writeRow(tx, one.job.id)
          return n % 8 === 3 ? 'superseded' : undefined
        }),
      ),
    )
    expect(answers).toEqual(claims.map((_, n) => (n % 8 === 3 ? 'superseded' : 'published')))
    const written = claims.filter((_, n) => n % 4 !== 3).map((one) => one.job.id)
    expect((await rows()).sort()).toEqual(written.sort())
  })

  test('one that waits for what an earlier one has read is not in its way', async () => {
    const { store, claims, rows } = await claimed(6)
    const known = Promise.withResolvers<string>()
    await Promise.all(
      claims.map((one, n) =>
        store.publish(one, SUCCEEDED, async (tx) => {
          const text = n === 0 ? 'first' : await known.promise
          await writeRow(tx, text)
          known.resolve(`after ${text}`)
          return undefined
        }),
      ),
    )
    expect(await rows()).toEqual(['first', ...Array.from({ length: 5 }, () => 'after first')])
  })

  test('that catch being refused are done again all the same', async () => {
    const { store, claims, rows } = await claimed(20)
    await Promise.all(
      claims.map((one) =>
        store.publish(one, SUCCEEDED, async (tx) => {
          await writeRow(tx, `first of ${one.job.id}`)
          await writeRow(tx, `second of ${one.job.id}`).catch(() => {})
          return undefined
        }),
      ),
    )
    expect(await rows()).toHaveLength(40)
  })

  test('one that breaks a rule of the schema fails alone', async () => {
    const { store, claims, rows, db } = await claimed(10)
    await db.transaction((tx) => tx.run('CREATE TABLE IF NOT EXISTS names (name text PRIMARY KEY)'))
    const answers = await Promise.allSettled(
      claims.map((one, n) =>
        store.publish(one, SUCCEEDED, async (tx) => {
          if (n === 4) await tx.run("INSERT INTO names VALUES ('a'), ('a')")
          else await writeRow(tx, one.job.id)
          return undefined
        }),
      ),
    )
    expect(answers.filter((one) => one.status === 'rejected')).toMatchObject([
      { reason: { code: 'CONSTRAINT_VIOLATION', kind: 'unique' } },
    ])
    expect(await rows()).toHaveLength(9)
  })
})

/** What waits and what is done must not make a call dearer. */
describeOnPostgres('plans', () => {
  let url: string
  beforeAll(async () => {
    url = await preparedDatabase()
  })

  test('no call reads through the table of jobs, also when its plan was made while that was empty', async () => {
    const { store, db, clock } = await openedStores(url, { options: { connections: 1 } })
    const scans = async () => {
      await db.read.all('SELECT pg_stat_force_next_flush()')
      return db.read.get("SELECT pg_stat_get_numscans('jobs'::regclass) AS scans")
    }
    const everything = async () => {
      const [one] = await store.accept([
        submission({ operationId: `op-${clock.nowMs()}`, key: 'a', subject: 's' }),
      ])
      await store.accept(submissions(20, { key: 'b' }))
      const claims = await claim(store, 10)
      await store.claim({
        worker: 'w',
        limit: 5,
        leaseMs: 1_000,
        kinds: [{ kind: 'title', perKey: 1, spacingMs: 1 }],
      })
      await store.heartbeat(claims, 30_000)
      await store.nextDueInMs(['title', 'photo'])
      await store.progress(claims[0]!, 1)
      const back = { state: 'ready', outcome: 'retried', runAtMs: clock.nowMs(), reason: 'timeout' } as const
      await Promise.all(claims.map((claim, n) => store.publish(claim, n % 2 ? SUCCEEDED : back)))
      await store.transaction(async (tx) => {
        await store.supersede(tx, { subject: 's', version: 1 })
        await store.repair(tx, one!.job.id)
        await store.cancel(tx, one!.job.id)
        await store.forget(tx, 's')
      })
      clock.advance(60_000)
      await claim(store, 10)
      await store.prune({ finishedMs: 1, operationsMs: 1, stepsMs: 1, limit: 10 })
    }
    await everything()
    await store.accept(submissions(3_000))
    const before = await scans()
    await everything()
    expect(await scans()).toEqual(before)
  })
})
