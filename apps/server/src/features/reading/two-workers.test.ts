import { beforeEach, describe, expect, test } from 'vitest'
import { Harness, type Process } from '../../testing/harness.ts'

/** A worker that stands still for longer than its lease, and goes on as if nothing had been. */
let garner: Harness
let first: Process
let id: string
beforeEach(async () => {
  garner = await Harness.open()
  id = (await garner.save(A)).id
  first = await garner.process()
  first.work()
  await garner.settle()
  expect(garner.site.waiting).toHaveLength(1)
})

const A = 'https://example.com/a'
const LEASE_MS = 30_000
const stale = () => garner.metric('garner_stale_publications_total{kind="fetch-title"}')

/** The first worker stands still, gets its page, and goes on when its lease is over. */
async function comesBackLate(meanwhile: () => Promise<void>): Promise<void> {
  const late = garner.site.asked(A)
  first.freeze()
  await garner.pass(LEASE_MS)
  await meanwhile()
  late.answer('First title')
  await garner.settle()
  first.thaw()
  await garner.settle()
}

async function second(): Promise<void> {
  ;(await garner.process()).work()
  await garner.settle()
}

describe('a worker that comes back after its lease', () => {
  test('while its successor still fetches: refused by its epoch, counted once, and the successor’s title stays', async () => {
    await comesBackLate(second)
    expect(await garner.link(id)).toMatchObject({
      title: null,
      title_status: 'pending',
      job: { state: 'running' },
    })
    expect(await stale()).toBe(1)
    garner.site.asked(A).answer('Second title')
    await garner.settle()
    const link = await garner.link(id)
    expect(link).toMatchObject({ title: 'Second title', job: { state: 'succeeded' } })
    expect(link.job.attempts.map((one: { outcome: string }) => one.outcome)).toEqual([
      'lease_expired',
      'succeeded',
    ])
    expect([await stale(), first.errors]).toEqual([1, []])
  })

  test('after its successor has published: refused and counted once', async () => {
    await comesBackLate(async () => {
      await second()
      garner.site.waiting.at(-1)!.answer('Second title')
      await garner.settle()
    })
    expect(await garner.link(id)).toMatchObject({ title: 'Second title', title_tries: 2 })
    expect(await stale()).toBe(1)
  })

  test('with nobody else there: refused by its lease alone; the job is tried again', async () => {
    await comesBackLate(async () => {})
    expect(await stale()).toBe(1)
    expect((await garner.link(id)).title).toBeNull()
    await garner.pass(1_000)
    garner.site.asked(A).answer('The next try’s')
    await garner.settle()
    expect(await garner.link(id)).toMatchObject({ title: 'The next try’s', title_tries: 2 })
    expect(garner.site.requests).toHaveLength(2)
  })

  test('to a link that was deleted: nothing comes back', async () => {
    await comesBackLate(async () => {
      await garner.ask('DELETE', `/api/bookmarks/${id}`)
    })
    await garner.pass(60_000)
    expect((await garner.list()).items).toEqual([])
    expect([await stale(), first.errors, garner.site.requests.length]).toEqual([0, [], 1])
  })
})
