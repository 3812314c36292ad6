import { describe, expect, test } from 'vitest'
import { kcal, mealOf } from '../testing.ts'
import type { FoundTime } from './found-time.ts'
import { type Fate, fateOf } from './live-row.ts'
import { type Row, rowOf, type UploadState } from './row.ts'
import { fileDateWords, megabytes, percent, rowWords } from './row-words.ts'
import { headline, needsYou, partOf, tallyOf, tallyWords } from './tally.ts'

const nowMs = Date.parse('2026-08-29T14:00:00Z')
const around = { today: '2026-08-29', unit: 'kcal', pending: 200, nowMs } as const
const FOUND: FoundTime = {
  taken: {
    ...{ date: '2026-08-28', time: '19:20', seconds: '', offset: null },
    ...{ source: 'exif:DateTimeOriginal', guess: false, offsetIsDerived: false },
  },
  doubts: [],
  fileTime: null,
}

function row(parts: { upload?: UploadState; found?: FoundTime; size?: number } = {}): Row {
  const file = new File([], 'IMG_4150.HEIC')
  Object.defineProperty(file, 'size', { value: parts.size ?? 100 })
  const made = rowOf({ id: 'r', key: 'k', file, preview: null, found: parts.found ?? FOUND })
  return parts.upload ? { ...made, upload: parts.upload } : made
}

const said = (one: Row, fate: Fate | null = null) => {
  const { strong, rest } = rowWords(one, fate, around)
  return `${strong} ${rest}`.trim()
}
const future: FoundTime = {
  ...{ taken: null, fileTime: null },
  doubts: [{ source: 'exif:DateTimeOriginal', says: '2027-08-28 12:00', why: 'future' }],
}

describe('the words of a row', () => {
  test.each<[string, Row, Fate | null]>([
    ['Waiting. Time read from the photo. Change it if the camera was wrong.', row(), null],
    ['No time in this photo. When was it?', row({ found: { ...FOUND, taken: null } }), null],
    ['This photo says 2027. Is that right?', row({ found: future }), null],
    ['Uploading, 62 %', row({ upload: { is: 'uploading', sent: 62 } }), null],
    ['Uploaded, safe to close. 2 are before it.', row(), { is: 'queued', before: 2 }],
    ['Being described.', row(), { is: 'describing' }],
    [
      'Logged. Avocado toast with a fried egg, 386 kcal',
      row(),
      {
        is: 'logged',
        meal: mealOf({ description: 'Avocado toast with a fried egg', nutrients: kcal(386) }),
      },
    ],
    [
      'Logged with photo and time. The estimate did not answer in 3 tries; nothing was counted.',
      row(),
      { is: 'placeholder', reason: 'overloaded', meal: null },
    ],
    [
      'Logged with photo and time. Today’s estimates were used up when it arrived.',
      row(),
      { is: 'placeholder', reason: 'allowance_exhausted', meal: null },
    ],
    [
      'Already logged. You have this photo on Mon 24 Aug at 12:40.',
      row({
        upload: {
          ...{ is: 'duplicate', of: 'same-photo', mealId: 'm' },
          at: { date: '2026-08-24', time: '12:40' },
        },
      }),
      null,
    ],
    [
      'Already logged. You have another photo of this minute, on Fri 28 Aug at 19:20.',
      row({
        upload: {
          ...{ is: 'duplicate', of: 'same-minute', mealId: 'm' },
          at: { date: '2026-08-28', time: '19:20' },
        },
      }),
      null,
    ],
    [
      'Already logged. It is the very same file, which you have on Mon 24 Aug at 12:40; it is not logged twice.',
      {
        ...row({
          upload: {
            ...{ is: 'duplicate', of: 'same-photo', mealId: 'm' },
            at: { date: '2026-08-24', time: '12:40' },
          },
        }),
        force: true,
      },
      null,
    ],
    [
      'Not uploaded. The connection dropped at 40 %.',
      row({ upload: { is: 'failed', why: { kind: 'dropped' }, sent: 40 } }),
      null,
    ],
    ['Not uploaded. 31 MB is over the limit of 25 MB.', row({ size: 31_000_000 }), null],
    [
      'Not uploaded. This is not a picture Garner can read.',
      row({ upload: { is: 'failed', why: { kind: 'not-a-picture', detail: '' }, sent: 0 } }),
      null,
    ],
    ['Could not be saved in 6 tries. The photo and its estimate are kept.', row(), { is: 'dead' }],
    [
      '200 photos are waiting already. This one goes up when there is room, in about 1 min.',
      row({ upload: { is: 'paused', untilMs: nowMs + 60_000, why: 'full' } }),
      null,
    ],
  ])('%s', (words, one, fate) => {
    expect(said(one, fate)).toBe(words)
  })

  test('a queue of one', () => {
    const held = row({ upload: { is: 'paused', untilMs: nowMs, why: 'full' } })
    expect(rowWords(held, null, { ...around, pending: 1 }).strong).toBe('1 photo is waiting already.')
  })

  test('100 % is only said by the server', () => {
    expect([percent(100, 100), percent(0, 0), percent(62.9, 100)]).toEqual([99, 0, 62])
  })

  test('just over the limit is not "25 MB is over the limit of 25 MB"', () => {
    expect(megabytes(25_000_001)).toBe('25.1 MB')
    expect(megabytes(25_000_000)).toBe('25 MB')
  })

  test('the file date, as offered', () => {
    expect(fileDateWords({ date: '2026-08-28', time: '21:14' })).toBe('File date: Fri 28, 21:14')
  })
})

describe('what became of an uploaded photo', () => {
  const uploaded = row({ upload: { is: 'uploaded', entryId: 'e1' } })
  const entry = {
    ...{ id: 'e1', before: 2, date: '2026-08-28', time: '19:20', time_source: 'client' },
    ...{ attempts: 0, next_try: null, error: null },
  }
  const none = () => null

  test('waits, is described, has ended; a 202 alone is already safe', () => {
    const pending = (state: 'queued' | 'describing') => ({
      pending: 1,
      entries: [{ ...entry, state }],
      finished: [],
    })
    expect(fateOf(uploaded, undefined, none)).toEqual({ is: 'queued', before: 0 })
    expect(fateOf(uploaded, pending('queued'), none)).toEqual({ is: 'queued', before: 2 })
    expect(fateOf(uploaded, pending('describing'), none)).toEqual({ is: 'describing' })
    const finished = [{ id: 'e1', state: 'dead' as const }]
    expect(fateOf(uploaded, { pending: 0, entries: [], finished }, none)).toEqual({ is: 'dead' })
    expect(fateOf(row(), undefined, none)).toBeNull()
  })

  test('an hour later its end is forgotten, and the meal itself still says it', () => {
    const empty = { pending: 0, entries: [], finished: [] }
    const meal = mealOf({ id: 'e1' })
    expect(fateOf(uploaded, empty, () => meal)).toEqual({ is: 'logged', meal })
    const bare = mealOf({ id: 'e1', estimate: 'none', reason: 'no_provider' })
    expect(fateOf(uploaded, empty, () => bare)).toMatchObject({ is: 'placeholder', reason: 'no_provider' })
  })
})

test('the batch in one line, and who needs its person', () => {
  const parts = ['logged', 'logged', 'coming', 'uploading', 'todo', 'question', 'undone', 'undone'] as const
  const tally = tallyOf(parts)
  expect(headline(tally)).toBe('8 photos, 2 still to upload')
  expect(tally.needYou).toBe(3)
  expect(tallyWords(tally)).toBe('2 logged, 1 on their way, 1 uploading, 1 waiting, 1 question, 2 not done')
  expect(parts.filter(needsYou)).toHaveLength(3)
  expect(headline(tallyOf(['logged']))).toBe('1 photo')
  expect(partOf(row({ found: { ...FOUND, taken: null } }), null)).toBe('question')
  expect(partOf(row(), { is: 'dead' })).toBe('undone')
  const upload: UploadState = {
    ...{ is: 'duplicate', of: 'same-photo', mealId: 'm' },
    at: { date: '2026-08-24', time: '12:40' },
  }
  expect(partOf(row({ upload }), null)).toBe('question')
})
