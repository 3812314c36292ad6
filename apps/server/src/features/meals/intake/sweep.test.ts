import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Diary } from '../../../testing/diary.ts'

/** Bytes that no row leads to, as a killed server leaves them. */
async function orphan(diary: Diary, key: string): Promise<void> {
  const path = join(diary.harness.dataDir, 'photos', key)
  mkdirSync(join(path, '..'), { recursive: true })
  writeFileSync(path, 'orphan')
  await touch(diary, path)
}

async function touch(diary: Diary, path: string): Promise<void> {
  const at = new Date(diary.harness.clock.nowMs())
  await utimes(path, at, at)
}

const sweep = (diary: Diary) => diary.harness.web.garner.sweep()

test('orphans go a quarter of an hour after they were written; what a row leads to stays', async () => {
  const diary = await Diary.open()
  const ids = [await diary.log(1), await diary.log(2)]
  await diary.work()
  const waiting = await diary.log(3)
  await orphan(diary, 'alice/orphan')
  diary.harness.clock.advance(14 * 60_000)
  await sweep(diary)
  expect(diary.blobs()).toContain('alice/orphan')
  diary.harness.clock.advance(2 * 60_000)
  await sweep(diary)
  expect(diary.blobs()).toEqual([...ids, waiting].map((id) => `alice/${id}`).sort())
})

test('bytes of an account that is gone go at once', async () => {
  const diary = await Diary.open()
  await orphan(diary, 'somebody-gone/photo')
  await orphan(diary, 'alice/just-written')
  await sweep(diary)
  expect(diary.blobs()).toEqual(['alice/just-written'])
})

test('a server that starts sweeps', async () => {
  const diary = await Diary.open()
  await orphan(diary, 'alice/orphan')
  diary.harness.clock.advance(3_600_000)
  await diary.harness.web.garner.start({ isWorker: false })
  expect(diary.blobs()).toEqual([])
})

test('uploads that were never read to their end go after a day', async () => {
  const diary = await Diary.open()
  const dir = join(diary.harness.dataDir, 'incoming')
  mkdirSync(dir, { recursive: true })
  writeFileSync(join(dir, 'half'), 'half a photo')
  await touch(diary, join(dir, 'half'))
  diary.harness.clock.advance(23 * 3_600_000)
  await sweep(diary)
  expect(readdirSync(dir)).toEqual(['half'])
  diary.harness.clock.advance(2 * 3_600_000)
  await sweep(diary)
  expect(readdirSync(dir)).toEqual([])
})

test('an entry whose job is gone is dead, and its person can mend it', async () => {
  const diary = await Diary.open()
  const { garner, db } = diary.harness.web
  const id = await diary.log(1)
  await db.transaction((tx) => garner.jobs.forgetTenant(tx, 'alice'))
  await sweep(diary)
  expect((await diary.pending()).pending).toBe(1)
  diary.harness.clock.advance(2 * 3_600_000)
  await sweep(diary)
  expect(await diary.pending()).toMatchObject({
    pending: 0,
    finished: [{ id, state: 'dead', reason: 'job_gone' }],
  })
  expect((await diary.harness.ask('POST', `/api/auto-log/${id}/retry`)).statusCode).toBe(202)
  expect(await diary.work()).toEqual(['published'])
  expect(await diary.meal(id)).toMatchObject({ estimate: 'estimated' })
})

test('deleting an account takes its queue, its photos and its rows, and leaves the picture that another has, too', async () => {
  const diary = await Diary.open()
  const at = { date: '2025-12-31', time: '10:00' }
  await diary.send(1, at)
  const bobs = (await diary.send(1, at, { as: 'bob' })).json().entry.id
  await diary.work()
  await diary.log(2)
  const gone = await diary.harness.ask('DELETE', '/api/me', { body: { confirm: 'delete' } })
  expect(gone.statusCode, gone.body).toBe(204)
  expect(diary.blobs()).toEqual([`bob/${bobs}`])
  expect([await diary.count('photo_entries'), await diary.count('meals'), await diary.count('jobs')]).toEqual(
    [1, 1, 1],
  )
  expect((await diary.harness.ask('GET', `/api/photos/${bobs}`, { as: 'bob' })).statusCode).toBe(200)
  await diary.workLater()
  expect([diary.vision.calls, diary.harness.web.errors]).toEqual([2, []])
})
