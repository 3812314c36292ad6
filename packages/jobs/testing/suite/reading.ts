import { expect } from 'vitest'
import type { Contract } from './contract.ts'
import { LEASE_MS, SUCCEEDED } from './scene.ts'

export function readingTests<Tx>({ holds }: Contract<Tx>): void {
  holds('get: undefined when there is no such job', async ({ store }) => {
    expect(await store.get('job-none')).toBeUndefined()
  })

  holds('get: attempts are oldest first', async (scene) => {
    const { id } = await scene.submit()
    for (let n = 0; n < 12; n++) {
      await scene.claim()
      scene.clock.advance(LEASE_MS)
    }
    expect((await scene.attempts(id)).map((one) => one.epoch)).toEqual([
      1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
    ])
  })

  holds('list: newest first, in pages that neither repeat nor miss a job', async (scene) => {
    const jobs = await scene.submitMany(25)
    const pages: string[][] = []
    let after: string | undefined
    do {
      const page = await scene.store.list({ limit: 10, after })
      pages.push(page.map((one) => one.id))
      after = page.at(-1)?.id
    } while (after !== undefined)
    expect(pages.map((one) => one.length)).toEqual([10, 10, 5, 0])
    expect(pages.flat()).toEqual(jobs.map((one) => one.id).reverse())
  })

  holds('list: goes on behind a job that has gone since', async (scene) => {
    const [oldest] = await scene.submitMany(3, { subject: 'stays' })
    const last = await scene.submit({ subject: 'goes' })
    const newest = await scene.submit({ subject: 'stays' })
    expect((await scene.store.list({ limit: 2 })).map((one) => one.id)).toEqual([newest.id, last.id])
    await scene.change((tx) => scene.store.forget(tx, 'goes'))
    const next = await scene.store.list({ limit: 10, after: last.id })
    expect(next).toHaveLength(3)
    expect(next.at(-1)!.id).toBe(oldest!.id)
  })

  holds('list: by state and by kind', async (scene) => {
    const done = await scene.ended(SUCCEEDED)
    const title = await scene.submit({ kind: 'title' })
    const photo = await scene.submit({ kind: 'photo' })
    const ids = async (filter: { state?: 'ready' | 'succeeded'; kind?: string }) =>
      (await scene.store.list({ ...filter, limit: 10 })).map((one) => one.id)
    expect(await ids({ state: 'ready' })).toEqual([photo.id, title.id])
    expect(await ids({ kind: 'title' })).toEqual([title.id, done.id])
    expect(await ids({ state: 'succeeded', kind: 'title' })).toEqual([done.id])
    expect(await ids({ state: 'succeeded', kind: 'photo' })).toEqual([])
    expect(await scene.store.list({ limit: 10 })).toEqual([
      await scene.job(photo.id),
      await scene.job(title.id),
      await scene.job(done.id),
    ])
  })

  holds('counts: of each kind and state now, with the age of the oldest due job', async (scene) => {
    expect(await scene.store.counts()).toEqual([])
    await scene.ended(SUCCEEDED)
    await scene.claimed()
    await scene.submit()
    scene.clock.advance(4_000)
    await scene.submit()
    await scene.submit({ kind: 'photo', runAtMs: scene.clock.nowMs() + 1_000 })
    scene.clock.advance(500)
    const counts = await scene.store.counts()
    expect(counts).toHaveLength(4)
    expect(counts).toEqual(
      expect.arrayContaining([
        { kind: 'title', state: 'succeeded', count: 1, oldestDueMs: null },
        { kind: 'title', state: 'running', count: 1, oldestDueMs: null },
        { kind: 'title', state: 'ready', count: 2, oldestDueMs: 4_500 },
        { kind: 'photo', state: 'ready', count: 1, oldestDueMs: null },
      ]),
    )
  })

  holds('totals: add up over all connections and outlive the jobs', async (scene) => {
    const { store, second } = scene
    expect(await store.totals()).toEqual([])
    await scene.ended(SUCCEEDED, { subject: 'bookmark-1' })
    await scene.submit({ subject: 'bookmark-1' })
    const claim = await scene.claimOne()
    await second.publish(claim, SUCCEEDED)
    await scene.ended({ state: 'dead', reason: 'x' }, { subject: 'bookmark-1' })
    await scene.change((tx) => store.forget(tx, 'bookmark-1'))
    const totals = [
      { kind: 'title', name: 'finished:dead', value: 1 },
      { kind: 'title', name: 'finished:succeeded', value: 2 },
    ]
    expect(await store.totals()).toEqual(totals)
    expect(await second.totals()).toEqual(totals)
  })

  holds('totals: a repaired job’s ends count each', async (scene) => {
    const { id } = await scene.ended({ state: 'dead', reason: 'x' })
    await scene.change((tx) => scene.store.repair(tx, id))
    await scene.store.publish(await scene.claimOne(), SUCCEEDED)
    expect(await scene.total('finished:dead')).toBe(1)
    expect(await scene.total('finished:succeeded')).toBe(1)
  })

  holds('what is read is a copy: changing it changes nothing', async (scene) => {
    const payload = { url: 'https://example.org/' }
    const { id } = await scene.submit({ payload })
    payload.url = 'changed'
    const read = await scene.job(id)
    ;(read.payload as typeof payload).url = 'changed'
    read.state = 'dead'
    expect(await scene.job(id)).toMatchObject({ state: 'ready', payload: { url: 'https://example.org/' } })
  })

  holds('what is read is a copy: so are progress, steps and schedules', async (scene) => {
    const { store } = scene
    const claim = await scene.claimed()
    const said = { words: ['one'] }
    await store.progress(claim, said)
    await store.recordStep(claim, 'title', { state: 'settled', result: said })
    const daily = { name: 'digest', kind: 'title', tenant: 'alice', cron: '0 7 * * *', deadlineMs: 1_000 }
    await scene.change((tx) => store.schedule(tx, { ...daily, payload: said }))
    said.words.push('changed')
    const standing = await store.openStep(claim, { name: 'title' })
    const read = [
      (await scene.job(claim.job.id)).progress,
      standing.state === 'settled' && standing.result,
      (await store.steps(claim.job.id))[0]!.result,
      (await store.schedules())[0]!.payload,
    ] as (typeof said)[]
    for (const one of read) {
      expect(one).toEqual({ words: ['one'] })
      one.words.push('changed')
    }
    expect((await scene.job(claim.job.id)).progress).toEqual({ words: ['one'] })
    expect(await store.openStep(claim, { name: 'title' })).toEqual({
      state: 'settled',
      result: { words: ['one'] },
    })
    expect((await store.schedules())[0]!.payload).toEqual({ words: ['one'] })
  })
}
