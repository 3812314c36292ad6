import { beforeAll, expect, test } from 'vitest'
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

  test('writes of one batch run one after the other', async () => {
    const { store } = await counting()
    await store.accept(submissions(30))
    const claims = await claim(store)
    const running = new Map<unknown, number>()
    let most = 0
    await Promise.all(
      claims.map((one) =>
        store.publish(one, SUCCEEDED, async (tx) => {
          running.set(tx, (running.get(tx) ?? 0) + 1)
          most = Math.max(most, running.get(tx)!)
          await tx.all('SELECT 1')
          running.set(tx, running.get(tx)! - 1)
          return undefined
        }),
      ),
    )
    expect(most).toBe(1)
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
