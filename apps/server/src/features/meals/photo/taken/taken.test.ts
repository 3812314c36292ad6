import { describe, expect, test } from 'vitest'
import { NO_METADATA, type PhotoMetadata } from '../metadata.ts'
import { resolveTaken, type TakenInput, whyImplausible } from './taken.ts'

const NOW = Date.parse('2026-08-10T12:00:00Z')
const BERLIN = { zone: 'Europe/Berlin' }

function resolve(parts: Partial<Omit<TakenInput, 'metadata'>> & { metadata?: Partial<PhotoMetadata> }) {
  return resolveTaken({
    where: BERLIN,
    nowMs: NOW,
    ...parts,
    metadata: { ...NO_METADATA, ...parts.metadata },
  })
}

const everything = {
  metadata: {
    exif: {
      dateTimeOriginal: '2026:08:01 10:01:00',
      createDate: '2026:08:01 10:02:00',
      modifyDate: '2026:08:01 10:06:00',
    },
    xmp: { dateCreated: '2026-08-01T10:03:00' },
    gps: { dateStamp: '2026:08:01', timeStamp: [8, 5, 0] },
  },
  fileName: 'IMG_20260801_100400.jpg',
  lastModifiedMs: Date.parse('2026-08-01T08:07:00Z'),
}

describe('the order', () => {
  test('each source speaks when the ones before it are silent', () => {
    const { exif, xmp, gps } = everything.metadata
    const without = [
      everything,
      { ...everything, metadata: { xmp, gps, exif: { ...exif, dateTimeOriginal: '' } } },
      { ...everything, metadata: { xmp, gps, exif: { modifyDate: exif.modifyDate } } },
      { ...everything, metadata: { gps, exif: { modifyDate: exif.modifyDate } } },
      { lastModifiedMs: everything.lastModifiedMs, metadata: { gps, exif: { modifyDate: exif.modifyDate } } },
      { lastModifiedMs: everything.lastModifiedMs, metadata: { exif: { modifyDate: exif.modifyDate } } },
      { lastModifiedMs: everything.lastModifiedMs },
      {},
    ]
    expect(
      without
        .map((parts) => resolve(parts).taken)
        .map((taken) => taken && [taken.source, taken.time, taken.guess]),
    ).toEqual([
      ['exif:DateTimeOriginal', '10:01', false],
      ['exif:CreateDate', '10:02', false],
      ['xmp', '10:03', false],
      ['filename', '10:04', false],
      ['gps', '10:05', true],
      ['exif:ModifyDate', '10:06', true],
      ['file', '10:07', true],
      null,
    ])
  })

  test('a day alone, in EXIF, is less than a minute elsewhere', () => {
    const exif = { dateTimeOriginal: '2026:08:01' }
    expect(resolve({ metadata: { exif }, fileName: 'IMG_20260801_123015.jpg' }).taken).toMatchObject({
      ...{ source: 'filename', time: '12:30' },
    })
  })

  test('XMP: the original stamp before the creation of the document', () => {
    const xmp = { createDate: '2026-08-02T09:00:00', dateTimeOriginal: '2026-08-01T20:31:15+02:00' }
    expect(resolve({ metadata: { xmp } }).taken).toMatchObject({
      date: '2026-08-01',
      time: '20:31',
      offset: '+02:00',
    })
  })
})

describe('the offset', () => {
  const exif = { dateTimeOriginal: '2026:08:01 19:30:12' }
  test('its own tag before the tag of the last change', () => {
    const both = { ...exif, offsetOriginal: '+01:00', offset: '+02:00' }
    expect(resolve({ metadata: { exif: both } }).taken).toMatchObject({
      offset: '+01:00',
      offsetIsDerived: false,
    })
  })

  test('a digitised stamp has the digitised offset', () => {
    const digitised = { createDate: '2026:08:01 08:05:00', offsetDigitized: '+03:00', offset: '+02:00' }
    expect(resolve({ metadata: { exif: digitised } }).taken).toMatchObject({ offset: '+03:00' })
  })

  test('a blank tag is no tag', () => {
    const blank = { ...exif, offsetOriginal: '   :  ', offset: '+02:00' }
    expect(resolve({ metadata: { exif: blank } }).taken).toMatchObject({ offset: '+02:00' })
  })

  test.for([
    [[10, 30, 9], '+09:00'],
    [[13, 45, 12], '+05:45'],
    [[9, 12, 44], null],
    [[9, 15, 12], null],
    [[10, 28, 0], null],
  ] as const)('satellites at %s give %s', ([timeStamp, offset]) => {
    const gps = { dateStamp: '2026:08:01', timeStamp: [...timeStamp] }
    expect(resolve({ metadata: { exif, gps } }).taken).toMatchObject({
      time: '19:30',
      offset,
      offsetIsDerived: offset !== null,
    })
  })

  test.for([
    [undefined, [10, 30, 9]],
    ['2026:08:01', undefined],
    ['2026:08:01', [25, 0, 0]],
    ['2026:08:01', [10, 30]],
  ] as const)('half a satellite stamp is none (%s, %s)', ([dateStamp, timeStamp]) => {
    const gps = { ...(dateStamp && { dateStamp }), ...(timeStamp && { timeStamp: [...timeStamp] }) }
    expect(resolve({ metadata: { gps } }).taken).toBeNull()
    expect(resolve({ metadata: { exif, gps } }).taken).toMatchObject({ time: '19:30', offset: null })
  })

  test('the zone of the person is never put on a clock without one', () => {
    expect(resolve({ metadata: { exif } }).taken).toMatchObject({ time: '19:30', offset: null })
  })
})

describe('names and files', () => {
  test('a name in UTC is shown in the zone, as a guess; without a zone it says nothing', () => {
    const fileName = 'PXL_20260801_223000123.jpg'
    expect(resolve({ fileName }).taken).toMatchObject({
      date: '2026-08-02',
      time: '00:30',
      guess: true,
      offset: '+02:00',
    })
    expect(resolve({ fileName, where: { offset: '+09:00' } }).taken).toMatchObject({
      date: '2026-08-02',
      time: '07:30',
    })
    expect(resolve({ fileName, where: {} }).taken).toBeNull()
    for (const where of [{ zone: 'Nowhere/Else' }, { offset: 'two hours' }]) {
      expect(resolve({ fileName, where }).taken).toBeNull()
    }
  })

  test('a winter instant is shown in winter time, in August as well', () => {
    const lastModifiedMs = Date.parse('2026-01-20T11:00:00Z')
    expect(resolve({ lastModifiedMs }).taken).toMatchObject({ time: '12:00', offset: '+01:00' })
  })

  test('the minute for a day comes from the same day only', () => {
    const fileName = 'IMG-20260801-WA0001.jpg'
    const gps = { dateStamp: '2026:08:01', timeStamp: [10, 0, 0] }
    const sameDay = Date.parse('2026-08-01T21:59:00Z')
    expect(resolve({ fileName, lastModifiedMs: sameDay }).taken).toMatchObject({
      source: 'filename+file',
      time: '23:59',
    })
    expect(resolve({ fileName, lastModifiedMs: sameDay + 60_000 }).taken).toMatchObject({
      source: 'filename',
      time: null,
      guess: true,
    })
    expect(resolve({ fileName, metadata: { gps }, lastModifiedMs: sameDay }).taken).toMatchObject({
      source: 'filename+gps',
      time: '12:00',
    })
    const exif = { modifyDate: '2026:08:01 18:00:00' }
    expect(resolve({ fileName, metadata: { exif } }).taken).toMatchObject({
      source: 'filename+exif',
      time: '18:00',
      guess: true,
    })
  })

  test('a file time that is no time at all', () => {
    // The year 20026, whose digits sort before 2026.
    const farMs = Date.UTC(20_026, 7, 1)
    for (const lastModifiedMs of [Number.NaN, Number.POSITIVE_INFINITY, 9e15, farMs, 0, -1]) {
      expect(resolve({ lastModifiedMs }).taken).toBeNull()
    }
  })
})

describe('what cannot be', () => {
  test('a reset clock and the future count as absent, and are told', () => {
    const exif = {
      dateTimeOriginal: '2027:08:01 12:00:00',
      createDate: '1980:01:01 00:00:07',
      modifyDate: 'last summer',
    }
    const { taken, doubts } = resolve({ metadata: { exif }, fileName: 'IMG_20260801_123015.jpg' })
    expect(taken).toMatchObject({ source: 'filename', time: '12:30' })
    expect(doubts).toEqual([
      { source: 'exif:DateTimeOriginal', says: '2027-08-01 12:00', why: 'future' },
      { source: 'exif:CreateDate', says: '1980-01-01 00:00', why: 'reset-clock' },
    ])
    expect(resolve({ metadata: { exif: { modifyDate: exif.modifyDate } } }).doubts).toEqual([
      { source: 'exif:ModifyDate', says: 'last summer', why: 'unreadable' },
    ])
  })

  test('blanks and zeros are silence, not a doubt', () => {
    for (const dateTimeOriginal of ['0000:00:00 00:00:00', '    :  :     :  :  ', '', '\0\0\0']) {
      expect(resolve({ metadata: { exif: { dateTimeOriginal } } })).toEqual({ taken: null, doubts: [] })
    }
  })

  test('a name of the future is no help either', () => {
    for (const fileName of ['IMG_20270801_120000.jpg', 'IMG-20300101-WA0001.jpg']) {
      const { taken, doubts } = resolve({ fileName })
      expect(taken).toBeNull()
      expect(doubts).toMatchObject([{ source: 'filename', why: 'future' }])
    }
  })

  test('one day ahead of UTC is today somewhere', () => {
    const lateMs = Date.parse('2026-08-10T23:59:59Z')
    expect(whyImplausible('2026-08-11', lateMs)).toBeNull()
    expect(whyImplausible('2026-08-12', lateMs)).toBe('future')
    expect(whyImplausible('1990-01-01', lateMs)).toBeNull()
    expect(whyImplausible('1989-12-31', lateMs)).toBe('reset-clock')
  })
})
