import { expect } from 'vitest'
import type { AllowanceUse } from '../../src/allowance.ts'
import type { Contract } from './contract.ts'
import { meet } from './races.ts'
import { idsOf, LEASE_MS, type Scene, SUCCEEDED, turns } from './scene.ts'

const USE: AllowanceUse = { allowance: 'vision', limit: 100, per: 'day' }
const PAID = { name: 'estimate', use: USE }

/** What four workers have done together, of so many jobs. */
interface Shift {
  ended: string[]
  jobs: number
}

/** Claims and publishes through one connection until all jobs have ended; jobs that never do end the test. */
async function workUntilDone<Tx>(scene: Scene<Tx>, by: Scene<Tx>['store'], shift: Shift): Promise<void> {
  const kinds = [
    { kind: 'title', perKey: 1 },
    { kind: 'photo', concurrency: 2 },
  ]
  while (shift.ended.length < shift.jobs) {
    const claims = await scene.claim({ limit: 3, kinds }, by)
    const running = await by.list({ state: 'running', limit: 100 })
    const keys = running.filter((one) => one.kind === 'title').map((one) => one.key)
    expect(new Set(keys).size).toBe(keys.length)
    expect(running.length - keys.length).toBeLessThanOrEqual(2)
    const ends = await Promise.all(claims.map((one) => by.publish(one, SUCCEEDED)))
    expect(ends).toEqual(claims.map(() => 'published'))
    shift.ended.push(...idsOf(claims))
    if (claims.length === 0) await turns(1)
  }
}

/** Two connections at the same jobs: whoever comes first, the other sees it whole. */
export function collisionTests<Tx>({ holds }: Contract<Tx>): void {
  for (const ends of ['commit', 'rollback'] as const) {
    holds(`races: an accept that meets the same operation under way that ends in ${ends}`, async (scene) => {
      const { store, second } = scene
      const first = scene.submission({ operationId: 'op-1' })
      const again = scene.submission({ operationId: 'op-1' })
      const [answer, other] = await meet(scene, {
        first: (tx) => store.submit(tx, first),
        second: () => second.accept([again, scene.submission()]),
        ends,
      })
      expect(answer).toMatchObject(
        ends === 'commit'
          ? { isRepeat: true, job: { id: first.id } }
          : { isRepeat: false, job: { id: again.id } },
      )
      expect(other!.isRepeat).toBe(false)
      expect(await scene.size()).toBe(2)
    })

    holds(`races: a claim that meets a cancelling under way that ends in ${ends}`, async (scene) => {
      const { store, second } = scene
      const { id } = await scene.submit()
      await meet(scene, {
        first: (tx) => store.cancel(tx, id),
        second: () => scene.claim({}, second),
        ends,
      })
      const { state, epoch } = await scene.job(id)
      if (ends === 'commit') expect({ state, epoch }).toEqual({ state: 'cancelled', epoch: 0 })
      else expect(['ready', 'running']).toContain(state)
    })

    holds(`races: a prune that meets a repair under way that ends in ${ends}`, async (scene) => {
      const { store, second } = scene
      const ended = await scene.ended(SUCCEEDED)
      scene.clock.advance(1)
      const retention = { finishedMs: 0, operationsMs: 0, stepsMs: 0, limit: 10 }
      const { jobs } = await meet(scene, {
        first: (tx) => store.repair(tx, ended.id),
        second: () => second.prune(retention),
        ends,
      })
      // What has been repaired is not finished any more.
      if (ends === 'commit') expect(jobs).toBe(0)
      expect(await scene.size()).toBe(1 - jobs)
      if (ends === 'commit') expect(idsOf(await scene.claim())).toEqual([ended.id])
    })

    holds(
      `races: a repair of a job that a submission repeats, under way, that ends in ${ends}`,
      async (scene) => {
        const { store, second } = scene
        const dead = await scene.ended({ state: 'dead', reason: 'http_404' }, { operationId: 'op-1' })
        const [answer] = await meet(scene, {
          first: (tx) => store.repair(tx, dead.id),
          second: () => second.accept([scene.submission({ operationId: 'op-1' })]),
          ends,
        })
        expect(answer).toMatchObject({ isRepeat: true, job: { id: dead.id } })
        expect((await scene.job(dead.id)).generation).toBe(ends === 'commit' ? 2 : 1)
      },
    )
  }

  holds('races: a late opening and the next claim: paid once, or known to be unknown', async (scene) => {
    const { store, second } = scene
    for (let n = 0; n < 10; n++) {
      const old = await scene.claimed()
      scene.clock.advance(LEASE_MS)
      const [standing, claims] = await Promise.all([store.openStep(old, PAID), scene.claim({}, second)])
      expect(idsOf(claims)).toEqual([old.job.id])
      const next = await second.openStep(claims[0]!, PAID)
      expect(next.state).toBe(standing.state === 'open' ? 'unknown' : 'open')
      await second.publish(claims[0]!, SUCCEEDED)
    }
  })

  holds('races: a late result and the next claim: it is found, or the step is unknown', async (scene) => {
    const { store, second } = scene
    for (let n = 0; n < 10; n++) {
      const old = await scene.claimed()
      await store.openStep(old, PAID)
      scene.clock.advance(LEASE_MS)
      const [stored, claims] = await Promise.all([
        store.recordStep(old, 'estimate', { state: 'settled', result: n }),
        scene.claim({}, second),
      ])
      const next = await second.openStep(claims[0]!, PAID)
      expect(next).toEqual(stored === 'stored' ? { state: 'settled', result: n } : { state: 'unknown' })
      await second.publish(claims[0]!, SUCCEEDED)
    }
  })

  holds(
    'races: submissions for the same tenants in opposite orders do not lock each other out',
    async (scene) => {
      const { store, second } = scene
      const ofAll = (tenants: string[]) => tenants.map((tenant) => scene.submission({ tenant }))
      const there = ['alice', 'bob', 'carol', 'dan']
      const answers = await Promise.all(
        Array.from({ length: 24 }, (_, n) => {
          const by = n % 2 ? store : second
          const submissions = ofAll(n % 3 ? there : there.toReversed())
          return n % 4 < 2 ? by.accept(submissions) : by.transaction((tx) => by.submitMany(tx, submissions))
        }),
      )
      expect(answers.flat()).toHaveLength(96)
      expect(await scene.size()).toBe(96)
      for (const tenant of there) {
        const ranks = answers.flat().filter((one) => one.job.tenant === tenant)
        expect(new Set(ranks.map((one) => one.job.rank)).size).toBe(24)
      }
    },
  )

  holds('races: four workers on two connections end everything once, within every limit', async (scene) => {
    const { store, second } = scene
    for (let n = 0; n < 20; n++) {
      await scene.submitMany(2, { key: `${n % 4}.example`, tenant: n % 2 ? 'alice' : 'bob' })
      await scene.submitMany(1, { kind: 'photo', tenant: n % 2 ? 'bob' : 'alice', priority: (n % 3) - 1 })
    }
    const shift: Shift = { ended: [], jobs: 60 }
    await Promise.all([store, second, store, second].map((by) => workUntilDone(scene, by, shift)))
    expect(new Set(shift.ended).size).toBe(60)
    expect(await scene.total('finished:succeeded')).toBe(40)
    expect(await scene.total('finished:succeeded', 'photo')).toBe(20)
    expect(await scene.total('stale_publications')).toBe(0)
  })

  holds(
    'races: superseding, forgetting and cancelling among publications leave every job in one end',
    async (scene) => {
      const { store, second, caller } = scene
      const jobs = []
      for (let n = 0; n < 24; n++) {
        jobs.push(
          await scene.submit({ subject: `bookmark-${n % 8}`, subjectVersion: 1, tenant: `tenant-${n % 3}` }),
        )
      }
      const claims = await scene.claim()
      const answers = Promise.all(
        claims.map((one, n) => (n % 2 ? store : second).publish(one, SUCCEEDED, scene.writing(one.job.id))),
      )
      await Promise.all([
        ...[0, 1, 2].map((n) =>
          second.transaction((tx) => second.supersede(tx, { subject: `bookmark-${n}`, version: 2 })),
        ),
        ...[3, 4].map((n) => store.transaction((tx) => store.forget(tx, `bookmark-${n}`))),
        ...jobs.slice(5, 8).map(({ id }) => second.transaction((tx) => second.cancel(tx, id))),
      ])
      const said = await answers
      const ends = idsOf(claims.filter((_, n) => said[n] === 'published'))
      expect((await caller.rows()).sort()).toEqual(ends.sort())
      const left = await store.list({ limit: 100 })
      for (const { id, state } of left) {
        if (state === 'succeeded') expect(ends).toContain(id)
        else expect(['superseded', 'cancelled']).toContain(state)
      }
      expect(await store.list({ limit: 1, state: 'running' })).toEqual([])
      expect(await scene.total('finished:succeeded')).toBe(ends.length)
    },
  )
}
