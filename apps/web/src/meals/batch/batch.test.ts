import { describe, expect, test } from 'vitest'
import { Failure } from '../../http/failure.ts'
import type { Uploaded } from '../contract.ts'
import type { PhotoUpload } from '../meals-api.ts'
import { Batch } from './batch.ts'
import type { FoundTime } from './found-time.ts'

const startMs = Date.parse('2026-08-29T14:00:00Z')

function found(date: string, time: string, parts: Partial<FoundTime> = {}): FoundTime {
  return {
    taken: {
      ...{ date, time, seconds: '00', offset: '+02:00' },
      ...{ source: 'exif:DateTimeOriginal', guess: false, offsetIsDerived: false },
    },
    doubts: [],
    fileTime: { date: '2026-08-28', time: '21:14' },
    ...parts,
  }
}

const NOTHING: FoundTime = { taken: null, doubts: [], fileTime: { date: '2026-08-28', time: '21:14' } }

const times: Record<string, FoundTime> = {
  'lunch.jpg': found('2026-08-28', '12:31'),
  'early.jpg': found('2026-08-28', '07:42'),
  'dinner.jpg': found('2026-08-28', '19:08'),
  'nothing.jpg': NOTHING,
  'future.jpg': {
    ...NOTHING,
    doubts: [{ source: 'exif:DateTimeOriginal', says: '2027-08-28 12:00', why: 'future' }],
  },
}

type Answer = (photo: PhotoUpload) => Uploaded | Failure

function accepted(photo: PhotoUpload): Uploaded {
  return {
    queued: true,
    pending: 1,
    entry: { id: `entry of ${photo.file.name}`, state: 'queued', ...photo.when },
  }
}

function setUp(answer: Answer = accepted) {
  const sent: PhotoUpload[] = []
  const slept: number[] = []
  const dropped: string[] = []
  let ids = 0
  let nowMs = startMs
  let wakeAfterMs = Number.POSITIVE_INFINITY
  let looks = 0
  let hold: Promise<void> | null = null
  const batch = new Batch({
    clock: {
      nowMs: () => nowMs,
      sleep: async (ms, signal) => {
        slept.push(ms)
        nowMs += Math.min(ms, wakeAfterMs)
        if (wakeAfterMs < ms && !signal?.aborted) batch.wake()
      },
    },
    random: () => 0,
    newId: () => {
      ids += 1
      return `id${ids}`
    },
    zone: () => 'Europe/Berlin',
    findTime: async (file) => times[file.name] ?? NOTHING,
    previewOf: (file) => `blob:${file.name}`,
    dropPreview: (url) => void dropped.push(url),
    onEnded: () => {
      looks += 1
    },
    upload: async (photo) => {
      sent.push(photo)
      photo.onProgress(40)
      await hold
      const result = answer(photo)
      if (result instanceof Failure) throw result
      return result
    },
  })
  batch.open('alice')
  const file = (name: string, size = 100) => {
    const made = new File([new Uint8Array(1)], name)
    Object.defineProperty(made, 'size', { value: size })
    return made
  }
  const rows = () => batch.state.get().rows
  return {
    batch,
    sent,
    slept,
    dropped,
    rows,
    file,
    names: () => rows().map((row) => row.file.name),
    rowOf: (name: string) => rows().find((row) => row.file.name === name)!,
    pick: (...names: string[]) => batch.pick(names.map((name) => file(name))),
    /** Uploads stand still until the answered function is called. */
    holdUploads() {
      let go = () => {}
      hold = new Promise((resolve) => {
        go = resolve
      })
      return () => {
        hold = null
        go()
      }
    },
    /** The network comes back so long after the beginning of every wait. */
    wakeAfter(ms: number) {
      wakeAfterMs = ms
    },
    looks: () => looks,
    idle: async () => {
      for (let i = 0; i < 40; i += 1) await Promise.resolve()
    },
  }
}

describe('picking', () => {
  test('oldest first, what has no time last; a later pick goes below, and no row changes places', async () => {
    const { pick, names } = setUp()
    await pick('lunch.jpg', 'nothing.jpg', 'early.jpg')
    expect(names()).toEqual(['early.jpg', 'lunch.jpg', 'nothing.jpg'])
    await pick('dinner.jpg')
    expect(names()).toEqual(['early.jpg', 'lunch.jpg', 'nothing.jpg', 'dinner.jpg'])
  })

  test('nothing goes up before its person says so', async () => {
    const { pick, sent, idle } = setUp()
    await pick('lunch.jpg')
    await idle()
    expect(sent).toEqual([])
  })

  test('a later pick joins what is going up; beside an open question it waits for its own word', async () => {
    const { batch, pick, sent, holdUploads, idle } = setUp()
    await pick('lunch.jpg')
    const letGo = holdUploads()
    batch.go()
    await idle()
    await pick('nothing.jpg', 'early.jpg')
    letGo()
    await idle()
    expect(sent.map((photo) => photo.file.name)).toEqual(['lunch.jpg', 'early.jpg'])
    await pick('dinner.jpg')
    await idle()
    expect(sent).toHaveLength(2)
    batch.go()
    await idle()
    expect(sent[2]?.file.name).toBe('dinner.jpg')
  })

  test('a file over the limit is told at once and never sent', async () => {
    const { batch, file, rowOf, sent, idle } = setUp()
    await batch.pick([file('lunch.jpg', 31_000_000)])
    batch.go()
    await idle()
    expect(rowOf('lunch.jpg').upload).toMatchObject({ is: 'failed', why: { kind: 'too-large' } })
    expect(sent).toEqual([])
  })
})

describe('uploading', () => {
  test('one at a time, from the top, each with its own key and the batch’s oldest minute', async () => {
    const { batch, pick, sent, holdUploads, idle, rowOf } = setUp()
    await pick('lunch.jpg', 'early.jpg')
    const letGo = holdUploads()
    batch.go()
    await idle()
    expect(sent.map((photo) => photo.file.name)).toEqual(['early.jpg'])
    expect(rowOf('early.jpg').upload).toEqual({ is: 'uploading', sent: 40 })
    letGo()
    await idle()
    expect(sent.map((photo) => photo.file.name)).toEqual(['early.jpg', 'lunch.jpg'])
    expect(sent.map((photo) => photo.since)).toEqual(Array(2).fill({ date: '2026-08-28', time: '07:42' }))
    expect(new Set(sent.map((photo) => photo.key)).size).toBe(2)
    expect(sent[0]).toMatchObject({ offset: '+02:00', zone: 'Europe/Berlin', force: false })
    expect(rowOf('lunch.jpg').upload).toEqual({ is: 'uploaded', entryId: 'entry of lunch.jpg' })
    expect(batch.unsent).toBe(0)
  })

  test('Stop after this one: the one under way is finished, the next does not begin', async () => {
    const { batch, pick, sent, holdUploads, idle, rowOf } = setUp()
    await pick('lunch.jpg', 'early.jpg')
    const letGo = holdUploads()
    batch.go()
    await idle()
    batch.stop()
    letGo()
    await idle()
    expect(rowOf('early.jpg').upload.is).toBe('uploaded')
    expect([sent.length, batch.unsent]).toEqual([1, 1])
    batch.go()
    await idle()
    expect(batch.unsent).toBe(0)
  })

  test('a dropped connection is told with how far it came, the next goes on, and a try goes under the same key', async () => {
    let isDown = true
    const { batch, pick, sent, slept, rowOf, idle } = setUp((photo) =>
      isDown && photo.file.name === 'early.jpg' ? new Failure(0, {}) : accepted(photo),
    )
    await pick('lunch.jpg', 'early.jpg')
    batch.go()
    await idle()
    expect(rowOf('early.jpg').upload).toEqual({ is: 'failed', why: { kind: 'dropped' }, sent: 40 })
    expect(rowOf('lunch.jpg').upload.is).toBe('uploaded')
    expect([slept.length, batch.unsent]).toEqual([1, 1])
    isDown = false
    batch.tryAgain([rowOf('early.jpg').id])
    await idle()
    const tries = sent.filter((photo) => photo.file.name === 'early.jpg')
    expect(tries[0]?.key).toBe(tries[1]?.key)
    expect(tries[0]?.since).toEqual(tries[1]?.since)
    expect(batch.unsent).toBe(0)
  })

  test('429: the row says so, waits as long as asked, and goes up by itself under its key', async () => {
    let refusals = 2
    const { batch, pick, sent, slept, rowOf, idle, looks } = setUp((photo) => {
      refusals -= 1
      return refusals >= 0 ? new Failure(429, { type: 'queue-full' }, 60_000) : accepted(photo)
    })
    await pick('lunch.jpg')
    batch.go()
    await idle()
    expect(rowOf('lunch.jpg').upload.is).toBe('uploaded')
    expect(slept).toEqual([60_000, 60_000])
    expect(new Set(sent.map((photo) => photo.key)).size).toBe(1)
    // How many wait is looked at anew with each refusal: others may have been sent from elsewhere.
    expect(looks()).toBe(3)
  })

  test('429: woken early, it waits for the rest of the time', async () => {
    let refusals = 1
    const { batch, pick, sent, slept, idle, wakeAfter } = setUp((photo) => {
      refusals -= 1
      return refusals >= 0 ? new Failure(429, { type: 'upload-rate' }, 60_000) : accepted(photo)
    })
    wakeAfter(25_000)
    await pick('early.jpg', 'lunch.jpg')
    batch.go()
    await idle()
    expect(slept).toEqual([60_000, 35_000, 10_000])
    expect(sent.map((photo) => photo.file.name)).toEqual(['early.jpg', 'early.jpg', 'lunch.jpg'])
  })

  test('the session ends: nothing is lost, nothing more is sent, and it goes on under the same key for the same person', async () => {
    let isOver = true
    const { batch, pick, sent, rowOf, idle } = setUp((photo) =>
      isOver ? new Failure(401, { detail: 'Sign in first.' }) : accepted(photo),
    )
    await pick('early.jpg', 'lunch.jpg')
    batch.go()
    await idle()
    batch.open(null)
    await idle()
    expect(sent).toHaveLength(1)
    expect([rowOf('early.jpg').upload.is, batch.unsent]).toEqual(['waiting', 2])
    isOver = false
    batch.open('alice')
    await idle()
    expect(batch.unsent).toBe(0)
    expect(sent[0]?.key).toBe(sent[1]?.key)
  })

  test('signed out on purpose, nothing of the batch stays, also not what was being read', async () => {
    const { batch, pick, dropped, rows, idle } = setUp()
    await pick('lunch.jpg')
    const reading = pick('early.jpg')
    batch.forget()
    await reading
    batch.open(null)
    batch.open('alice')
    await idle()
    expect([rows(), batch.state.get().reading]).toEqual([[], 0])
    expect(dropped).toEqual(['blob:lunch.jpg'])
  })

  test('what was taken back from the server leaves the list', async () => {
    const { batch, pick, names, idle } = setUp()
    await pick('early.jpg', 'lunch.jpg')
    batch.go()
    await idle()
    batch.dropEntries(['entry of early.jpg'])
    expect(names()).toEqual(['lunch.jpg'])
  })

  test('already logged: nothing is stored; Log it anyway is another request, and forces', async () => {
    const { batch, pick, sent, rowOf, idle } = setUp((photo) =>
      photo.force
        ? accepted(photo)
        : {
            ...{ queued: false, skipped: true, duplicate: 'same-photo', meal_id: 'm7' },
            ...{ date: '2026-08-24', time: '12:40', pending: 0 },
          },
    )
    await pick('lunch.jpg')
    batch.go()
    await idle()
    const { upload, id } = rowOf('lunch.jpg')
    expect(upload).toEqual({
      ...{ is: 'duplicate', of: 'same-photo', mealId: 'm7' },
      at: { date: '2026-08-24', time: '12:40' },
    })
    batch.logAnyway(id)
    await idle()
    expect(sent.map((photo) => photo.force)).toEqual([false, true])
    expect(sent[0]?.key).not.toBe(sent[1]?.key)
    expect(rowOf('lunch.jpg').upload.is).toBe('uploaded')
  })

  test('upl-proxy-limit: a page from a server in between is told as its limit', async () => {
    const { batch, pick, rowOf, idle } = setUp(() => new Failure(413, {}))
    await pick('lunch.jpg')
    batch.go()
    await idle()
    const { upload } = rowOf('lunch.jpg')
    expect(upload).toMatchObject({ is: 'failed', why: { kind: 'refused' } })
    expect(JSON.stringify(upload)).toContain('A server between this page and Garner takes no files of')
  })

  test('a refused file stops nobody else', async () => {
    const { batch, pick, rowOf, idle } = setUp((photo) =>
      photo.file.name === 'early.jpg'
        ? new Failure(415, { detail: 'Raw camera files are not read.' })
        : accepted(photo),
    )
    await pick('early.jpg', 'lunch.jpg')
    batch.go()
    await idle()
    expect(rowOf('early.jpg').upload).toMatchObject({ why: { kind: 'not-a-picture' } })
    expect(rowOf('lunch.jpg').upload.is).toBe('uploaded')
  })

  test('photos of one person are gone from the page when another signs in', async () => {
    const { batch, pick, sent, dropped, holdUploads, idle, rows } = setUp()
    await pick('lunch.jpg', 'early.jpg')
    const letGo = holdUploads()
    batch.go()
    await idle()
    batch.open('bob')
    letGo()
    await idle()
    expect(rows()).toEqual([])
    expect(sent).toHaveLength(1)
    expect(dropped.sort()).toEqual(['blob:early.jpg', 'blob:lunch.jpg'])
  })
})

describe('times', () => {
  test('without a time it asks and does not go up; an answer lets it go', async () => {
    const { batch, pick, sent, rowOf, idle } = setUp()
    await pick('nothing.jpg', 'lunch.jpg')
    batch.go()
    await idle()
    expect(sent.map((photo) => photo.file.name)).toEqual(['lunch.jpg'])
    batch.setWhen(rowOf('nothing.jpg').id, { date: '2026-08-28', time: '21:14' }, 'file')
    await idle()
    expect(sent[1]).toMatchObject({ when: { date: '2026-08-28', time: '21:14' }, offset: null })
  })

  test('a stamp of the future asks, also when nothing else is wrong', async () => {
    const { batch, pick, sent, idle } = setUp()
    await pick('future.jpg')
    batch.go()
    await idle()
    expect(sent).toEqual([])
  })

  test('half a minute is not sent: a row whose fields are written in waits until they are left', async () => {
    const { batch, pick, sent, rowOf, idle } = setUp()
    await pick('lunch.jpg')
    const { id } = rowOf('lunch.jpg')
    batch.setBeingEdited(id, true)
    batch.go()
    await idle()
    expect(sent).toEqual([])
    batch.setWhen(id, { date: '2026-08-28', time: '13:05' }, 'typed')
    batch.setBeingEdited(id, false)
    await idle()
    expect(sent[0]?.when).toEqual({ date: '2026-08-28', time: '13:05' })
  })

  test('the camera’s clock: all times from photos move, what was typed stays, and none into the future', async () => {
    const { batch, pick, rowOf, names } = setUp()
    await pick('early.jpg', 'lunch.jpg', 'dinner.jpg', 'nothing.jpg')
    batch.setWhen(rowOf('lunch.jpg').id, { date: '2026-08-28', time: '13:00' }, 'typed')
    expect(batch.shift(60)).toEqual({ moved: 2, refused: 0 })
    expect(rowOf('early.jpg').when.time).toBe('08:42')
    expect(rowOf('lunch.jpg').when.time).toBe('13:00')
    expect(names()).toEqual(['early.jpg', 'lunch.jpg', 'dinner.jpg', 'nothing.jpg'])
    expect(batch.shift(-60)).toEqual({ moved: 2, refused: 0 })
    expect(rowOf('early.jpg').when).toEqual({ date: '2026-08-28', time: '07:42' })
    expect(batch.shift(3 * 1440)).toEqual({ moved: 0, refused: 2 })
    expect(rowOf('dinner.jpg').when).toEqual({ date: '2026-08-28', time: '19:08' })
  })
})
