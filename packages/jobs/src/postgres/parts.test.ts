import { systemClock } from '@garner/db'
import { openPostgres, type PostgresDatabase } from '@garner/db/postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeOnPostgres } from '../../../db/testing/postgres.ts'
import {
  openedStores,
  pendingOf,
  preparedDatabase,
  submission,
  submissions,
  untilWaiting,
} from '../../testing/postgres.ts'
import { MeetingPoint } from '../../testing/suite/scene.ts'
import { PART_JOBS, submitInParts } from './submit.ts'

const MORE_THAN_A_PART = PART_JOBS + 100

/** A large call is stored in parts, and is one call all the same. */
describeOnPostgres('parts', () => {
  let url: string
  let admin: PostgresDatabase
  beforeAll(async () => {
    url = await preparedDatabase()
    admin = openPostgres({ url, clock: systemClock() })
  })
  afterAll(() => admin.close())

  test('a refusal in the last part leaves nothing of the others, and says how far there was room', async () => {
    const { store, db } = await openedStores(url, { bounds: { perTenant: MORE_THAN_A_PART } })
    await expect(store.accept(submissions(MORE_THAN_A_PART + 1))).rejects.toMatchObject({
      ...{ code: 'QUEUE_FULL', scope: 'tenant', pending: MORE_THAN_A_PART },
    })
    expect(await pendingOf(db)).toEqual({ jobs: 0, total: 0, tenants: 0 })
    await store.accept(submissions(MORE_THAN_A_PART))
    expect(await pendingOf(db)).toMatchObject({ jobs: MORE_THAN_A_PART, total: MORE_THAN_A_PART })
  })

  test('each job stands behind those of its tenant in the parts before', async () => {
    const { store, db } = await openedStores(url)
    const all = Array.from({ length: 2 * MORE_THAN_A_PART }, (_, n) =>
      submission({ tenant: `tenant-${n % 2}` }),
    )
    const answers = await store.accept(all)
    const told = answers.map(({ job }) => ({ id: job.id, rank: job.rank }))
    expect(told.map((one) => one.rank)).toEqual(all.map((_, n) => 1000 * (1 + Math.floor(n / 2))))
    expect(await db.read.all('SELECT id, rank FROM jobs ORDER BY id')).toEqual(told)
  })

  test('an operation that comes again in a later part is a repeat, or with another payload a conflict', async () => {
    const { store, db } = await openedStores(url)
    const once = (n: number) => submission({ operationId: 'op-1', payload: { n } })
    const filler = submissions(PART_JOBS - 1)
    const answers = await store.accept([once(1), ...filler, once(1), submission()])
    const [first, repeat, last] = [0, PART_JOBS, PART_JOBS + 1].map((index) => answers[index]!)
    expect(repeat).toEqual({ job: first!.job, isRepeat: true })
    expect(last).toMatchObject({ isRepeat: false, job: { rank: 1000 * (PART_JOBS + 1) } })
    expect(await pendingOf(db)).toMatchObject({ jobs: PART_JOBS + 1, total: PART_JOBS + 1 })
    const other = submission({ operationId: 'op-2' })
    const conflict = store.accept([other, ...submissions(PART_JOBS), once(2)])
    await expect(conflict).rejects.toMatchObject({ code: 'OPERATION_CONFLICT', operationId: 'op-1' })
    expect(await pendingOf(db)).toMatchObject({ jobs: PART_JOBS + 1, total: PART_JOBS + 1 })
  })

  test('two calls that come to the same tenants in another order do not wait for each other', async () => {
    const { store, db, secondDb } = await openedStores(url)
    const acceptance = { limits: { perTenant: 10_000, total: 100_000, retryAfterMs: 1 }, now: () => null }
    const inParts = (on: PostgresDatabase, tenants: string[]) => {
      const all = tenants.flatMap((tenant) => submissions(PART_JOBS, { tenant }))
      // Not done again when the server finds a deadlock.
      return on.transaction((tx) => submitInParts(tx, all, acceptance), { runsOnce: true })
    }
    await store.accept([submission({ tenant: 'alice' }), submission({ tenant: 'bob' })])
    const point = new MeetingPoint()
    const open = store.transaction(async (tx) => {
      await store.submit(tx, submission({ tenant: 'alice' }))
      await point.arrive()
    })
    await point.reached
    const first = inParts(secondDb, ['alice', 'bob'])
    await untilWaiting(admin, 1)
    const second = inParts(db, ['bob', 'alice'])
    await untilWaiting(admin, 2)
    point.letGo()
    await Promise.all([open, first, second])
    expect(await pendingOf(db)).toMatchObject({ jobs: 4 * PART_JOBS + 3, total: 4 * PART_JOBS + 3 })
  })
})
