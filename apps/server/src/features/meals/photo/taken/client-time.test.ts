import { describe, expect, test } from 'vitest'
import { readClientTime } from './client-time.ts'

const NOW = Date.parse('2026-08-10T12:00:00Z')
const paths = (fields: Parameters<typeof readClientTime>[0]) => {
  const answer = readClientTime(fields, NOW)
  return answer.ok ? 'ok' : answer.errors.map(({ path }) => path)
}

describe("the client's own date and time", () => {
  test('are taken as they are', () => {
    expect(readClientTime({ date: '2026-08-01', time: '09:05', offset: '+02:00' }, NOW)).toEqual({
      ok: true,
      taken: {
        ...{ date: '2026-08-01', time: '09:05', seconds: '', offset: '+02:00' },
        ...{ source: 'client', guess: false, offsetIsDerived: false },
      },
    })
  })

  test('none sent, or sent empty as forms do', () => {
    expect(readClientTime({}, NOW)).toEqual({ ok: true, taken: null })
    expect(readClientTime({ date: '', time: '', offset: '' }, NOW)).toEqual({ ok: true, taken: null })
  })

  test.for([
    '2026-8-1',
    '01.08.2026',
    '58552-03-12',
    '2026-02-30',
    '2026-08-01T10:00',
    ' 2026-08-01',
    '0001-01-01',
    '1899-12-31',
    '2026-08-12',
  ])('bad date %s', (date) => {
    expect(paths({ date, time: '10:00' })).toEqual(['date'])
  })

  test.for(['9:05', '24:00', '10:60', '10:00:00', 'noon', '1000'])('bad time %s', (time) => {
    expect(paths({ date: '2026-08-01', time })).toEqual(['time'])
  })

  test('tomorrow is fine: it is tomorrow in Auckland', () => {
    expect(paths({ date: '2026-08-11', time: '23:59' })).toBe('ok')
  })

  test('a photo of one’s grandmother may be logged at its year', () => {
    expect(paths({ date: '1961-08-01', time: '10:00' })).toBe('ok')
  })

  test('all that is wrong is said in one go, and half of the two is wrong', () => {
    expect(paths({ date: '1.8.', time: '9', offset: '+99:00' })).toEqual(['date', 'time', 'offset'])
    expect(paths({ date: '2026-08-01' })).toEqual(['time'])
    expect(paths({ time: '10:00' })).toEqual(['date'])
  })
})
