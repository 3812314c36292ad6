import { expect, test } from 'vitest'
import { Diary } from '../../../testing/diary.ts'
import { formOf, plate } from '../../../testing/photos.ts'
import { UploadRate } from './upload-rate.ts'

const AT = { date: '2025-12-31', time: '13:37' }

async function nothingLeft(diary: Diary) {
  expect([
    diary.blobs(),
    diary.left(),
    await diary.count('photo_entries'),
    await diary.count('jobs'),
  ]).toEqual([...[[], [], 0, 0]])
}

test.each([
  ['a date that is not padded', { date: '2025-1-2', time: '13:37' }, ['date']],
  ['a time that is not padded', { date: '2025-12-31', time: '9:05' }, ['time']],
  ['a day that there is not', { date: '2025-02-30', time: '09:05' }, ['date']],
  ['a year of five digits', { date: '58552-03-12', time: '10:00' }, ['date']],
  ['a date over a day ahead', { date: '2026-01-03', time: '10:00' }, ['date']],
  ['a date without its time', { date: '2025-12-31' }, ['time']],
  ['an offset that is none', { ...AT, offset: '+25:00' }, ['offset']],
  ['a zone that there is not', { ...AT, zone: 'Europe/Atlantis' }, ['zone']],
  ['a file time that is no number', { ...AT, last_modified: 'today' }, ['last_modified']],
  ['a batch that begins in the future', { ...AT, since: '2027-01-01' }, ['since']],
  ['a batch that begins at 25 o’clock', { ...AT, since: '2025-12-30', since_time: '25:00' }, ['since_time']],
  ['a force that is neither yes nor no', { ...AT, force: 'maybe' }, ['force']],
  ['a field that is not known', { ...AT, title: 'Lunch' }, ['title']],
  ['two bad ones', { date: '1-2-26', time: 'noon' }, ['date', 'time']],
])('%s: 400 naming the field, nothing is left', async (_what, fields, paths) => {
  const diary = await Diary.open()
  const answer = await diary.send(1, fields as Record<string, string>)
  expect(answer.statusCode).toBe(400)
  expect(answer.headers['content-type']).toMatch('application/problem+json')
  expect(answer.json().errors.map(({ path }: { path: string }) => path)).toEqual(paths)
  await nothingLeft(diary)
})

test('a photo that does not say when, from somebody who does not either: 400 asking for date and time', async () => {
  const diary = await Diary.open()
  const answer = await diary.send(1)
  expect([answer.statusCode, answer.json().detail]).toEqual([
    400,
    'The photo does not say when it was taken. Send date and time.',
  ])
  const day = await diary.send(1, { filename: 'IMG-20251230-WA0001.jpg' })
  expect([day.statusCode, day.json().detail]).toEqual([
    400,
    'The photo says only its day (2025-12-30), not the time. Send date and time.',
  ])
  await nothingLeft(diary)
})

test('its name says when, be it a field or the form’s; the file’s own time is a guess', async () => {
  const diary = await Diary.open()
  const named = await diary.send(1, { filename: 'IMG_20251230_203015.jpg' })
  expect(named.json().entry).toMatchObject({ date: '2025-12-30', time: '20:30' })
  const formed = await diary.send(2, {}, { fileName: 'IMG_20251229_101500.jpg' })
  expect(formed.json().entry).toMatchObject({ date: '2025-12-29', time: '10:15' })
  const dated = await diary.send(3, {
    last_modified: String(Date.UTC(2025, 11, 28, 11)),
    zone: 'Europe/Berlin',
  })
  expect(dated.json().entry).toMatchObject({ date: '2025-12-28', time: '12:00' })
  const rows = await diary.entries()
  expect(rows.map(({ time_source, is_guess }) => [time_source, is_guess])).toContainEqual(['file', 1])
})

test.each([
  ['no photo', formOf(null, AT), 400, /photo is missing/],
  ['a photo under another name', formOf(new Uint8Array(9), AT, { name: 'image' }), 400, /image is not known/],
  ['no picture', formOf(Buffer.from('oops'), AT), 415, /not a picture/],
  ['nothing in the file', formOf(new Uint8Array(0), AT), 415, /not a picture/],
  ['a drawing', formOf(Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), AT), 415, /SVG/],
  ['half a JPEG', formOf(Buffer.from('ffd8ffe000104a46', 'hex'), AT), 400, /incomplete or damaged/],
])('%s: refused, nothing is left', async (_what, { headers, payload }, status, says) => {
  const diary = await Diary.open()
  const asked = {
    method: 'POST',
    url: '/api/auto-log',
    headers: { 'x-demo-user': 'alice', ...headers },
    payload,
  } as const
  const answer = await diary.harness.app.inject(asked)
  expect([answer.statusCode, answer.json().detail]).toEqual([status, expect.stringMatching(says)])
  await nothingLeft(diary)
})

test('a picture whose end is missing, and one of too many pixels by its header', async () => {
  const diary = await Diary.open()
  const whole = await plate(1, { px: 640 })
  expect((await diary.send(whole.slice(0, whole.length >> 1), AT)).statusCode).toBe(400)
  const huge = whole.slice()
  const frame = Buffer.from(huge.buffer).indexOf(Buffer.from([0xff, 0xc0]))
  huge.set([0xff, 0xff, 0xff, 0xff], frame + 5)
  expect((await diary.send(huge, AT)).statusCode).toBe(413)
  await nothingLeft(diary)
})

test('fields may come after the photo; two photos, or a field twice, are refused', async () => {
  const diary = await Diary.open()
  const send = (form: { headers: object; payload: Buffer }) =>
    diary.harness.app.inject({
      ...{ method: 'POST', url: '/api/auto-log', payload: form.payload },
      headers: { 'x-demo-user': 'alice', ...form.headers },
    })
  const [one, two] = [formOf(await plate(1), AT, { photoFirst: true }), formOf(await plate(2), AT)]
  const end = Buffer.from('--a-boundary-that-is-in-no-picture--\r\n')
  const both = {
    headers: one.headers,
    payload: Buffer.concat([one.payload.subarray(0, -end.length), two.payload]),
  }
  expect((await send(both)).json().detail).toMatch(/is there twice/)
  await nothingLeft(diary)
  expect((await send(one)).statusCode).toBe(202)
})

test('a body that is no form: 415', async () => {
  const diary = await Diary.open()
  const answer = await diary.harness.ask('POST', '/api/auto-log', { body: { photo: 'x' } })
  expect([answer.statusCode, answer.json().detail]).toEqual([
    415,
    expect.stringContaining('multipart/form-data'),
  ])
  // Forms are read there and nowhere else.
  const form = formOf(await plate(1), AT)
  const headers = { 'x-demo-user': 'alice', ...form.headers }
  const elsewhere = { method: 'POST', url: '/api/bookmarks', headers, payload: form.payload } as const
  expect((await diary.harness.app.inject(elsewhere)).statusCode).toBe(415)
})

test('a form that ends in the middle: 400, nothing is left', async () => {
  const diary = await Diary.open()
  const { headers, payload } = formOf(await plate(1), AT)
  const cut = payload.subarray(0, payload.length - 200)
  const asked = {
    method: 'POST',
    url: '/api/auto-log',
    headers: { 'x-demo-user': 'alice', ...headers },
  } as const
  expect((await diary.harness.app.inject({ ...asked, payload: cut })).statusCode).toBe(400)
  await nothingLeft(diary)
})

test('the upload rate forgets who has been quiet for a minute', () => {
  let atMs = 0
  const clock = { nowMs: () => atMs, monotonicMs: () => atMs, sleep: async () => {} }
  const rate = new UploadRate({ clock, perMinute: 1 })
  rate.take('alice')
  expect(() => rate.take('alice')).toThrow()
  atMs = 59_999
  expect(() => rate.take('alice')).toThrow()
  atMs = 60_000
  rate.take('bob')
  rate.take('alice')
})
