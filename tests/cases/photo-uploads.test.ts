import { readFileSync, statSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import sharp from 'sharp'
import { describe, expect, test } from 'vitest'
import { Diary } from '../../apps/server/src/testing/diary.ts'
import { formOf, plate } from '../../apps/server/src/testing/photos.ts'
import { call } from '../system/api.ts'
import { type GarnerProcess, startGarner } from '../system/garner.ts'
import { blobs, sendPhoto } from '../system/photos.ts'
import { rows } from '../system/rows.ts'
import { caseNamed, casesOf, type PhotoCase, photoBytes, UPLOADED_AT, ZONE } from './photo-cases.ts'

/**
 * What the cases of `upload`, `format`, `duplicate` and `time` ask of the upload itself: answers, what is left, and how
 * the server stands it. What a picture is stored as is told in photo-pictures.test.ts, when it was taken in
 * photo-time.test.ts, and which are the same in photo-duplicates.test.ts.
 */
const titled = (id: string) => `${id}: ${caseNamed(id).what}`
/** Only a page can be closed, or sit behind a proxy: apps/web and tests/e2e. Kills: tests/system/meals-crash.test.ts. */
const TOLD_ELSEWHERE = ['upl-close-mid-batch', 'upl-proxy-limit', 'upl-one-bad-in-batch', 'upl-durable-202']
const TOLD = ['upl-over-size', 'upl-slow-network', 'upl-fifty-parallel']

/** A diary at the moment of a case. */
async function at(one: PhotoCase): Promise<Diary> {
  const diary = await Diary.open()
  diary.harness.clock.advance(Date.parse(one.input.now ?? UPLOADED_AT) - diary.harness.clock.nowMs())
  return diary
}

const bare = (diary: Diary, one: PhotoCase, name: string, fields: Record<string, string> = {}) =>
  diary.send(photoBytes(one.id, name), fields, { fileName: name })

async function nothingLeft(diary: Diary) {
  expect([
    diary.blobs(),
    diary.left(),
    await diary.count('photo_entries'),
    await diary.count('jobs'),
  ]).toEqual([...[[], [], 0, 0]])
}

const days = async (diary: Diary, query: string) =>
  (await diary.harness.ask('GET', `/api/meals?${query}`)).json().days

test('every case of area upload is told here or elsewhere', () => {
  const ids = casesOf('upload').map(({ id }) => id)
  expect([...TOLD, ...TOLD_ELSEWHERE].sort()).toEqual(ids.sort())
})

describe('duplicates', () => {
  test.each(['dup-location-stripped', 'dup-reencoded'])(
    '%s: the second is answered as the first, and can be kept',
    async (id) => {
      const one = caseNamed(id)
      const diary = await at(one)
      const [first, second] = one.input.files!.map(({ name }) => name)
      expect((await bare(diary, one, first!)).statusCode).toBe(202)
      const times = id === 'dup-reencoded' ? { date: '2026-08-01', time: '13:20' } : {}
      const again = await bare(diary, one, second!, times)
      expect([again.statusCode, again.json()]).toMatchObject([
        200,
        { duplicate: 'same-photo', skipped: true },
      ])
      expect((await bare(diary, one, second!, { ...times, force: 'true' })).statusCode).toBe(202)
    },
  )

  test.each(['dup-burst-distinct', 'dup-same-second-names'])(
    '%s: each is stored, or told why not and how',
    async (id) => {
      const one = caseNamed(id)
      const diary = await at(one)
      const names = one.input.files!.map(({ name }) => name)
      const answers = []
      for (const name of names) answers.push(await bare(diary, one, name))
      expect(answers.map((answer) => answer.json().duplicate ?? 'stored')).toEqual([
        'stored',
        'same-minute',
        'same-minute',
      ])
      for (const name of names.slice(1))
        expect((await bare(diary, one, name, { force: 'true' })).statusCode).toBe(202)
      await diary.work()
      const [{ meals }] = await days(diary, 'date=2026-08-01')
      const served = await Promise.all(
        meals.map(({ photo_url }: { photo_url: string }) => diary.harness.ask('GET', photo_url)),
      )
      expect(new Set(served.map(({ rawPayload }) => rawPayload.toString('base64'))).size).toBe(3)
    },
  )

  test('dup-old-same-minute: three meals on three days', async () => {
    const one = caseNamed('dup-old-same-minute')
    const diary = await at(one)
    for (const name of ['d2.jpg', 'd1.jpg', 'd9.jpg']) {
      expect((await bare(diary, one, name)).statusCode, name).toBe(202)
      await diary.work()
    }
    expect(await diary.count('meals')).toBe(3)
  })

  test(titled('dup-clamped-clock'), async () => {
    const one = caseNamed('dup-clamped-clock')
    const diary = await at(one)
    expect((await bare(diary, one, 'fast.jpg', { date: '2026-08-10', time: '12:00' })).statusCode).toBe(202)
    await diary.work()
    diary.harness.clock.advance(24 * 3_600_000)
    const again = await bare(diary, one, 'fast.jpg', { date: '2026-08-11', time: '12:00' })
    expect([again.statusCode, again.json().duplicate, diary.vision.calls]).toEqual([200, 'same-photo', 1])
  })

  test(titled('dup-lost-answer'), async () => {
    const one = caseNamed('dup-lost-answer')
    const diary = await at(one)
    const photo = photoBytes(one.id, 'retry.jpg')
    const first = await diary.send(photo, {}, { key: 'k1' })
    const again = await diary.send(photo, {}, { key: 'k1' })
    expect([again.headers['idempotency-replayed'], again.json().entry.id]).toEqual([
      'true',
      first.json().entry.id,
    ])
    expect(
      (await diary.send(await plate(5), { date: '2026-08-01', time: '09:00' }, { key: 'k1' })).statusCode,
    ).toBe(409)
    await diary.work()
    expect(await diary.count('meals')).toBe(1)
  })

  test(titled('dup-after-delete'), async () => {
    const one = caseNamed('dup-after-delete')
    const diary = await at(one)
    const { id } = (await bare(diary, one, 'again.jpg')).json().entry
    await diary.work()
    expect((await diary.harness.ask('DELETE', `/api/meals/${id}`)).statusCode).toBe(204)
    expect((await bare(diary, one, 'again.jpg')).statusCode).toBe(202)
    await diary.work()
    expect(await diary.count('meals')).toBe(1)
  })
})

describe('times', () => {
  test('tim-absurd-year: 400 with the field named, nothing queued', async () => {
    const one = caseNamed('tim-absurd-year')
    const diary = await at(one)
    const answer = await bare(diary, one, 'micro.jpg', one.input.request!.fields)
    expect([answer.statusCode, answer.json().errors[0].path]).toEqual([400, 'date'])
    await nothingLeft(diary)
    expect(await days(diary, 'date=2026-08-10')).toHaveLength(1)
  })

  test('tim-nothing-known: 400 that asks for date and time', async () => {
    const one = caseNamed('tim-nothing-known')
    const diary = await at(one)
    const answer = await bare(diary, one, 'image.jpg')
    expect([answer.statusCode, answer.json().detail]).toEqual([
      400,
      expect.stringContaining('Send date and time'),
    ])
    await nothingLeft(diary)
  })

  test.each(['tim-ahead-of-utc', 'tim-dst-overlap', 'tim-long-span', 'tim-day-not-utc'])(
    '%s: each is a meal at its own minute',
    async (id) => {
      const one = caseNamed(id)
      const diary = await at(one)
      for (const [n, { name }] of one.input.files!.entries()) {
        const answer = await bare(diary, one, name, { zone: ZONE })
        expect(answer.statusCode, answer.body).toBe(202)
        const { date, time } = one.expect.assert.resolve![n]!
        expect(answer.json().entry).toMatchObject({ date, time })
      }
      await diary.work()
      expect(await diary.count('meals')).toBe(one.input.files!.length)
      if (id !== 'tim-day-not-utc') return
      expect((await days(diary, 'date=2026-08-01'))[0].meals).toHaveLength(1)
      expect((await days(diary, 'date=2026-08-02'))[0].meals).toEqual([])
    },
  )

  test(titled('tim-server-zone'), async () => {
    const one = caseNamed('tim-server-zone')
    const servers = await Promise.all(
      one.expect.assert.server_zones!.map((TZ) => startGarner({ args: ['serve', '--demo'], env: { TZ } })),
    )
    for (const server of servers) {
      const answer = await sendPhoto(server, photoBytes(one.id, 'zone.jpg'), {})
      expect(answer.body.entry, answer.text).toMatchObject({ date: '2026-08-01', time: '20:30' })
    }
  })
})

/** One request over a connection of its own, its body in pieces. */
class Wire {
  readonly #socket: Socket
  said = ''
  isClosed = false

  constructor(port: number) {
    this.#socket = connect(port, '127.0.0.1')
    this.#socket.on('data', (data) => {
      this.said += data.toString('latin1')
    })
    this.#socket.on('close', () => {
      this.isClosed = true
    })
    this.#socket.on('error', () => {})
  }

  head(headers: Record<string, string>): void {
    const lines = Object.entries({ host: '127.0.0.1', 'x-demo-user': 'alice', ...headers })
    this.#socket.write(
      `POST /api/auto-log HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`,
    )
  }

  async write(bytes: Uint8Array): Promise<void> {
    if (!this.#socket.write(bytes)) await new Promise((resolve) => this.#socket.once('drain', resolve))
  }

  async answer(): Promise<number> {
    while (!/^HTTP\/1.1 (?!100)\d+/m.test(this.said) && !this.isClosed) await wait(5)
    return Number(/^HTTP\/1.1 (?!100)(\d+)/m.exec(this.said)?.[1] ?? 0)
  }

  end(): void {
    this.#socket.destroy()
  }
}

/** Bytes of photos that have come in and are not answered yet. */
function received(diary: Diary): number {
  const dir = join(diary.harness.dataDir, 'incoming')
  return diary
    .left()
    .reduce((sum, name) => sum + (statSync(join(dir, name), { throwIfNoEntry: false })?.size ?? 0), 0)
}

describe('the connection', () => {
  test('upl-slow-network: a photo that takes longer than any timeout arrives; one that stands still is cut off', async () => {
    const diary = await Diary.open()
    const address = await diary.harness.app.listen({ host: '127.0.0.1', port: 0 })
    const port = Number(new URL(address).port)
    const { headers, payload } = formOf(await plate(1, { px: 640 }), { date: '2025-12-31', time: '13:37' })
    const slow = new Wire(port)
    slow.head({ ...headers, 'content-length': String(payload.length) })
    for (let n = 0; n < 10; n++) {
      const [from, to] = [n, n + 1].map((part) => Math.floor((payload.length * part) / 10))
      const before = received(diary)
      await slow.write(payload.subarray(from, to))
      if (n === 9) break
      // Until the piece is through; then nearly a minute passes.
      while (received(diary) === before) await wait(1)
      diary.harness.clock.advance(50_000)
    }
    expect(await slow.answer(), slow.said).toBe(202)
    slow.end()

    const silent = new Wire(port)
    silent.head({ ...headers, 'content-length': String(payload.length) })
    await silent.write(payload.subarray(0, payload.length >> 1))
    while (received(diary) === 0) await wait(1)
    diary.harness.clock.advance(59_000)
    await wait(1)
    expect(silent.isClosed).toBe(false)
    diary.harness.clock.advance(2_000)
    while (!silent.isClosed) await wait(1)
    while (diary.left().length > 0) await wait(1)
    expect(diary.blobs()).toHaveLength(1)
  })

  test('upl-over-size: 413 that names 25 MB and can be read, on a connection that stays; nothing is left', async () => {
    const server = await startGarner({ args: ['serve', '--demo'] })
    const port = Number(new URL(server.url).port)
    const start = photoBytes('fmt-octet-stream', 'plain.jpg')
    const padded = new Uint8Array(26_000_000)
    padded.set(start)
    const { headers, payload } = formOf(padded, { date: '2026-08-01', time: '10:00' })
    // Its length is known, and all of it is sent: the answer comes all the same, and the connection is good for more.
    const known = new Wire(port)
    known.head({ ...headers, 'content-length': String(payload.length) })
    await known.write(payload)
    expect(await known.answer()).toBe(413)
    expect(known.said).toContain('25 MB')
    known.head({ 'content-length': '0' })
    while (!known.said.includes(' 415 ')) await wait(5)
    known.end()
    // In chunks, nobody knows how much is to come: it is read to its end, and not kept.
    const chunked = new Wire(port)
    chunked.head({ ...headers, 'transfer-encoding': 'chunked' })
    for (let at = 0; at < payload.length; at += 1_000_000) {
      const piece = payload.subarray(at, at + 1_000_000)
      await chunked.write(
        Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n')]),
      )
    }
    await chunked.write(Buffer.from('0\r\n\r\n'))
    expect(await chunked.answer()).toBe(413)
    chunked.end()
    // Asked first whether it may: told before a byte of it is sent.
    const asking = new Wire(port)
    asking.head({ ...headers, 'content-length': '26000000', expect: '100-continue' })
    expect(await asking.answer()).toBe(413)
    asking.end()
    expect(blobs(server.dataDir)).toEqual([])
    expect(rows(server.dataDir, 'SELECT id FROM photo_entries')).toEqual([])
  })
})

/** Asks for the server's health all the while; the slowest answer in ms. */
async function healthWhile(server: GarnerProcess, work: Promise<unknown>, everyMs: number): Promise<number> {
  let slowest = 0
  let isOver = false
  void work.finally(() => {
    isOver = true
  })
  while (!isOver) {
    const from = performance.now()
    await call(`${server.url}/healthz`)
    slowest = Math.max(slowest, performance.now() - from)
    await wait(everyMs)
  }
  return slowest
}

/** Resident memory of a process and of those it has started, in MB. */
function memoryOf(pid: number): number {
  const read = (path: string) => readFileSync(path, 'utf8')
  const rss = Number(/VmRSS:\s+(\d+)/.exec(read(`/proc/${pid}/status`))?.[1] ?? 0) / 1000
  const children = read(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number)
  return children.reduce((sum, child) => sum + memoryOf(child), rss)
}

describe('under load', () => {
  test(titled('fmt-heic-off-thread'), async () => {
    const server = await startGarner({ args: ['serve', '--demo'] })
    const heic = photoBytes('real', 'samsung-s24fe.heic')
    const uploads = Promise.all(
      Array.from({ length: 6 }, (_, n) =>
        sendPhoto(server, Uint8Array.from([...heic, n]), {
          date: '2026-08-01',
          time: `10:0${n}`,
          force: 'true',
        }),
      ),
    )
    const slowest = await healthWhile(server, uploads, 100)
    expect((await uploads).map(({ status }) => status)).toEqual(Array(6).fill(202))
    expect(slowest).toBeLessThan(500)
  }, 120_000)

  test(titled('upl-fifty-parallel'), async () => {
    const server = await startGarner({ args: ['serve', '--demo'] })
    const pixels = { width: 4000, height: 3000, channels: 3 as const, background: '#808080' }
    const grey = await sharp({ create: pixels }).jpeg().toBuffer()
    await sendPhoto(server, await plate(1), { date: '2026-08-01', time: '09:00' })
    const before = memoryOf(server.pid)
    let most = 0
    const uploads = Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        sendPhoto(server, Uint8Array.from([...grey, n]), { date: '2026-08-02', time: `10:${10 + n}` }),
      ),
    )
    const watching = (async () => {
      let isOver = false
      void uploads.finally(() => {
        isOver = true
      })
      while (!isOver) {
        most = Math.max(most, memoryOf(server.pid))
        await wait(100)
      }
    })()
    const slowest = await healthWhile(server, uploads, 100)
    await watching
    const answers = await uploads
    expect(
      answers.filter(
        ({ status, headers }) => status !== 202 && !(status === 429 && headers.has('retry-after')),
      ),
    ).toEqual([])
    expect(most - before).toBeLessThan(600)
    expect(slowest).toBeLessThan(500)
  }, 180_000)
})
