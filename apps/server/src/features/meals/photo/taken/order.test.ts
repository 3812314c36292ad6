import { expect, test } from 'vitest'
import { inTakenOrder } from './order.ts'
import { parseStamp, type Stamp } from './stamp.ts'

const ordered = (...texts: string[]) => inTakenOrder(texts, parseStamp)

test('a fraction is compared digit by digit: .094772 is before .1', () => {
  const burst = ['2026:08:01 09:26:39.1', '2026:08:01 09:26:39.094772', '2026:08:01 09:26:38.178406']
  expect(ordered(...burst)).toEqual(burst.toReversed())
})

test('with every offset known the instants decide', () => {
  const first = '2025:10:26 02:50:00+02:00'
  const second = '2025:10:26 02:10:00+01:00'
  expect(ordered(second, first)).toEqual([first, second])
})

test('with one offset missing the clocks decide, for all', () => {
  const batch = ['2026:08:01 12:00:00+02:00', '2026:08:01 11:30:00-08:00', '2026:08:01 11:45:00']
  expect(ordered(...batch)).toEqual([batch[1], batch[2], batch[0]])
})

test('days without a minute come first in their day, what has no day last, equals as they were picked', () => {
  const stamps: [string, Stamp | null][] = [
    ['nothing', null],
    ['noon', parseStamp('2026:08:01 12:00:00')],
    ['also noon', parseStamp('2026:08:01 12:00:00')],
    ['day', parseStamp('2026:08:01')],
    ['eve', parseStamp('2026:07:31 23:59:00')],
  ]
  expect(inTakenOrder(stamps, ([, stamp]) => stamp).map(([name]) => name)).toEqual([
    'eve',
    'day',
    'noon',
    'also noon',
    'nothing',
  ])
})
