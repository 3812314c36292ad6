import { expect, test } from 'vitest'
import { Diary } from '../../../testing/diary.ts'
import { picturesHere, plate } from '../../../testing/photos.ts'
import type { Pictures } from '../photo/index.ts'

const AT = { date: '2025-12-31', time: '13:37' }
const other = (time: string) => ({ date: '2025-12-31', time })

test('a photo is answered 202 once its bytes, its entry and its job are there', async () => {
  const diary = await Diary.open()
  const answer = await diary.send(1, AT)
  expect(answer.statusCode, answer.body).toBe(202)
  const { entry } = answer.json()
  expect(answer.json()).toEqual({
    queued: true,
    pending: 1,
    entry: { id: expect.any(String), state: 'queued', ...AT },
  })
  expect(diary.blobs()).toEqual([`alice/${entry.id}`])
  expect(diary.left()).toEqual([])
  const [row] = await diary.entries()
  expect(row).toMatchObject({
    id: entry.id,
    user_id: 'alice',
    state: 'waiting',
    blob: `alice/${entry.id}`,
    width: 64,
  })
  const { job } = (await diary.harness.web.garner.jobs.get(row!.job_id))!
  // Nothing of the picture is in the queue: its entry's id, and no more.
  expect(job).toMatchObject({ tenant: 'alice', payload: { entry: entry.id }, subject: `photo:${entry.id}` })
})

test('the same bytes are the same photo while they wait and when they are a meal; nothing is stored or called for', async () => {
  const diary = await Diary.open()
  const id = (await diary.send(1, AT)).json().entry.id
  const again = await diary.send(1, other('18:00'))
  expect([again.statusCode, again.json()]).toEqual([
    200,
    { queued: false, skipped: true, duplicate: 'same-photo', entry_id: id, ...AT, pending: 1 },
  ])
  await diary.work()
  expect((await diary.send(1, AT)).json()).toEqual({
    ...{ queued: false, skipped: true, duplicate: 'same-photo', meal_id: id, ...AT, pending: 0 },
  })
  expect((await diary.send(1, { ...AT, force: 'true' })).statusCode).toBe(200)
  expect([diary.blobs().length, await diary.count('photo_entries'), diary.vision.calls]).toEqual([1, 1, 1])
  expect(diary.left()).toEqual([])
})

test('a smaller copy that looks the same is the same photo, and can be logged all the same', async () => {
  const diary = await Diary.open()
  const id = (await diary.send(await plate(1, { px: 320 }), AT)).json().entry.id
  const copy = await plate(1, { px: 160, quality: 60 })
  const answer = await diary.send(copy, {
    date: '2026-01-01',
    time: '09:00',
    since: '2026-01-01',
    since_time: '09:00',
  })
  expect([answer.statusCode, answer.json()]).toMatchObject([200, { duplicate: 'same-photo', entry_id: id }])
  expect(diary.blobs()).toHaveLength(1)
  expect((await diary.send(copy, { date: '2026-01-01', time: '09:00', force: 'true' })).statusCode).toBe(202)
})

test('a smaller copy in the same minute is the same photo, and not another picture', async () => {
  const diary = await Diary.open()
  await diary.send(await plate(1, { px: 320 }), AT)
  const answer = await diary.send(await plate(1, { px: 160, quality: 60 }), AT)
  expect([answer.statusCode, answer.json().duplicate]).toEqual([200, 'same-photo'])
})

test('a look is compared with what was logged from a month before the batch on', async () => {
  const diary = await Diary.open()
  await diary.send(await plate(1, { px: 320 }), { date: '2025-11-20', time: '13:37' })
  const copy = await plate(1, { px: 160, quality: 60 })
  expect((await diary.send(copy, { ...AT, since: '2025-12-25', since_time: '10:00' })).statusCode).toBe(202)
  const second = await plate(1, { px: 200, quality: 50 })
  expect((await diary.send(second, { ...other('14:00'), since: '2025-12-10' })).json()).toMatchObject({
    duplicate: 'same-photo',
  })
})

test('another picture in the same minute is told, and can be logged all the same', async () => {
  const diary = await Diary.open()
  const id = (await diary.send(1, AT)).json().entry.id
  const answer = await diary.send(2, AT)
  expect([answer.statusCode, answer.json()]).toMatchObject([
    200,
    { queued: false, skipped: true, duplicate: 'same-minute', entry_id: id, pending: 1 },
  ])
  expect((await diary.send(2, { ...AT, force: '1' })).json()).toMatchObject({ queued: true, pending: 2 })
  expect((await diary.send(3, { ...AT, date: '2025-12-30' })).statusCode).toBe(202)
  expect((await diary.send(4, AT, { as: 'bob' })).statusCode).toBe(202)
})

test('a meal by hand, a dead entry and a deleted meal are in nobody’s way', async () => {
  const diary = await Diary.open()
  const { harness } = diary
  await harness.ask('POST', '/api/meals', { body: { ...AT, description: 'Porridge' } })
  const id = (await diary.send(1, AT)).json().entry.id
  await diary.work()
  expect((await harness.ask('DELETE', `/api/meals/${id}`)).statusCode).toBe(204)
  expect((await diary.send(1, AT)).statusCode).toBe(202)
  await harness.web.db.transaction((tx) =>
    tx.run("UPDATE photo_entries SET state = 'dead' WHERE is_deleted = 0"),
  )
  expect((await diary.send(1, AT)).statusCode).toBe(202)
})

test('a meal that was moved is looked for where it is now', async () => {
  const diary = await Diary.open()
  const id = (await diary.send(1, AT)).json().entry.id
  await diary.work()
  const moved = { version: 1, date: '2025-12-30', time: '08:00' }
  expect((await diary.harness.ask('PATCH', `/api/meals/${id}`, { body: moved })).statusCode).toBe(200)
  expect((await diary.send(2, AT)).statusCode).toBe(202)
  expect((await diary.send(3, { date: '2025-12-30', time: '08:00' })).json()).toMatchObject({
    ...{ duplicate: 'same-minute', meal_id: id },
  })
})

test('two photos of one minute whose offsets differ were taken an hour apart', async () => {
  const diary = await Diary.open()
  const at = { date: '2025-10-26', time: '02:10' }
  expect((await diary.send(1, { ...at, offset: '+02:00' })).statusCode).toBe(202)
  expect((await diary.send(2, { ...at, offset: '+01:00' })).statusCode).toBe(202)
  expect((await diary.send(3, { ...at, offset: '+01:00' })).json()).toMatchObject({
    duplicate: 'same-minute',
  })
})

test('ten copies of one photo at once, and ten that only look the same: one entry each time', async () => {
  const diary = await Diary.open()
  const photo = await plate(1, { px: 320 })
  const same = await Promise.all(Array.from({ length: 10 }, () => diary.send(photo, AT)))
  expect(same.map(({ statusCode }) => statusCode).sort()).toEqual([...Array(9).fill(200), 202])
  const copies = await Promise.all([60, 65, 70, 75, 80].map((quality) => plate(2, { px: 320, quality })))
  const alike = await Promise.all(copies.map((copy, n) => diary.send(copy, other(`15:0${n}`))))
  expect(alike.map(({ statusCode }) => statusCode).sort()).toEqual([200, 200, 200, 200, 202])
  expect([await diary.count('photo_entries'), diary.blobs().length]).toEqual([2, 2])
  expect(diary.left()).toEqual([])
})

test('over the bound: 429, counted, nothing stored; a repeat is still told first; only what waits counts', async () => {
  const diary = await Diary.open({ env: { GARNER_MAX_PENDING: '2' } })
  await diary.send(1, other('10:01'))
  await diary.send(2, other('10:02'))
  const full = await diary.send(3, other('10:03'))
  expect([full.statusCode, full.headers['retry-after'], full.json().type]).toEqual([429, '2', 'queue-full'])
  expect((await diary.send(1, other('10:01'))).statusCode).toBe(200)
  expect((await diary.send(4, other('10:02'))).json()).toMatchObject({ duplicate: 'same-minute', pending: 2 })
  expect([diary.blobs().length, await diary.count('photo_entries'), await diary.count('jobs')]).toEqual([
    2, 2, 2,
  ])
  expect(await diary.harness.metric('garner_queue_rejections_total{reason="bound"}')).toBe(1)
  expect((await diary.allowance()).reserved).toBe(0)
  await diary.work()
  expect((await diary.send(3, other('10:03'))).statusCode).toBe(202)
})

test('ten different photos at once with room for two: two are taken, and no more are read than that', async () => {
  const diary = await Diary.open({ env: { GARNER_MAX_PENDING: '2' } })
  const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => diary.send(n, other(`11:1${n}`))))
  expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([202, 202, ...Array(8).fill(429)])
  expect([diary.blobs().length, await diary.count('photo_entries')]).toEqual([2, 2])
})

test('an Idempotency-Key: the first answer again, also after the meal is there; another photo under it is a conflict', async () => {
  const diary = await Diary.open()
  const first = await diary.send(1, AT, { key: 'k1' })
  await diary.work()
  const again = await diary.send(1, AT, { key: 'k1' })
  expect([again.statusCode, again.headers['idempotency-replayed'], again.body]).toEqual([
    202,
    'true',
    first.body,
  ])
  expect((await diary.send(2, other('15:00'), { key: 'k1' })).statusCode).toBe(409)
  expect((await diary.send(1, other('15:00'), { key: 'k1' })).statusCode).toBe(409)
  expect([await diary.count('photo_entries'), diary.blobs().length]).toEqual([1, 1])
})

test('more uploads than a minute allows: 429 saying when, per person', async () => {
  const diary = await Diary.open({ env: { GARNER_UPLOADS_PER_MINUTE: '2' } })
  await diary.send(1, other('10:01'))
  diary.harness.clock.advance(20_000)
  await diary.send(2, other('10:02'))
  const third = await diary.send(3, other('10:03'))
  expect([third.statusCode, third.headers['retry-after'], third.json().type]).toEqual([
    429,
    '40',
    'upload-rate',
  ])
  expect((await diary.send(3, other('10:03'), { as: 'bob' })).statusCode).toBe(202)
  expect(await diary.harness.metric('garner_queue_rejections_total{reason="rate"}')).toBe(1)
  diary.harness.clock.advance(40_000)
  expect((await diary.send(3, other('10:03'))).statusCode).toBe(202)
})

test.each(['photo.after-write:fail', 'submit.before-commit:fail'] as const)(
  'a server that fails at %s: 503, and neither row nor bytes are there',
  async (fault) => {
    const diary = await Diary.open({ fault: `${fault}@1` })
    expect((await diary.send(1, AT, { key: 'k1' })).statusCode).toBe(503)
    expect([
      diary.blobs(),
      diary.left(),
      await diary.count('photo_entries'),
      await diary.count('jobs'),
    ]).toEqual([...[[], [], 0, 0]])
    expect((await diary.send(1, AT, { key: 'k1' })).statusCode).toBe(202)
  },
)

test('a commit that fails: 503, nothing is there; one that landed and was reported as failed is recognised by its row', async () => {
  const diary = await Diary.open()
  const { db } = diary.harness.web
  db.failCommits = true
  expect((await diary.send(1, AT)).statusCode).toBe(503)
  db.failCommits = false
  expect([diary.blobs(), await diary.count('photo_entries')]).toEqual([[], 0])
  db.lieAboutCommits = true
  const answer = await diary.send(1, AT)
  db.lieAboutCommits = false
  expect([answer.statusCode, answer.json()]).toMatchObject([202, { queued: true, pending: 1 }])
  expect(diary.blobs()).toEqual([`alice/${answer.json().entry.id}`])
  await diary.work()
  expect(await diary.meals()).toHaveLength(1)
})

test('who was turned away while the photo came in gets 403, and nothing of it stays', async () => {
  const here = picturesHere()
  const normalise: Pictures['normalise'] = async (...picture) => {
    await diary.harness.ask('POST', '/api/admin/users/alice/reject', { as: 'admin' })
    return here.normalise(...picture)
  }
  const diary = await Diary.open({ pictures: { ...here, normalise } })
  expect((await diary.send(1, AT)).statusCode).toBe(403)
  expect([diary.blobs(), diary.left(), await diary.count('photo_entries')]).toEqual([[], [], 0])
})

test('strangers, and people who wait to be let in, are refused before a byte is read', async () => {
  const diary = await Diary.open()
  const { status } = { status: 'pending' }
  await diary.harness.web.db.transaction((tx) =>
    tx.run('UPDATE users SET status = ? WHERE id = ?', status, 'carol'),
  )
  expect((await diary.send(1, AT, { as: 'nobody' })).statusCode).toBe(401)
  expect((await diary.send(1, AT, { as: 'carol' })).statusCode).toBe(403)
  expect(diary.left()).toEqual([])
})
