import { expect, test } from 'vitest'
import { courseOf, NOT_RENEWED, WITHOUT_SHARED } from './scenes.ts'

const lengths = (course: ReturnType<typeof courseOf>) =>
  Object.fromEntries(course.scenes.map(({ name, fromS, toS }) => [name, toS - fromS]))

test('the scene without a shared cache is as long as it is told to be, and no other changes', () => {
  const usual = courseOf({ seconds: 60, withoutSharedS: 0 })
  const longer = courseOf({ seconds: 60, withoutSharedS: 60 })
  const { [WITHOUT_SHARED]: usualS, ...rest } = lengths(usual)
  const { [WITHOUT_SHARED]: longerS, ...others } = lengths(longer)
  expect([usual.endS, usualS, longerS]).toEqual([60, expect.closeTo(13.68), expect.closeTo(60)])
  expect(longer.endS).toBe(106)
  for (const [name, lengthS] of Object.entries(rest))
    expect(Math.abs(others[name]! - lengthS), name).toBeLessThan(0.5)
})

test('what has to outlast a lease does, however short the whole', () => {
  const { [NOT_RENEWED]: dark, 'another paused': paused } = lengths(
    courseOf({ seconds: 14, withoutSharedS: 0 }),
  )
  expect([dark! > 3.2, paused! > 3.2]).toEqual([true, true])
})

test('scenes follow each other without a gap, and things happen in the order of time', () => {
  const { scenes, happenings, endS } = courseOf({ seconds: 20, withoutSharedS: 7 })
  expect(scenes.map(({ fromS }) => fromS)).toEqual([0, ...scenes.slice(0, -1).map(({ toS }) => toS)])
  expect(scenes.at(-1)!.toS).toBe(endS)
  const times = happenings.map(({ atS }) => atS)
  expect(times).toEqual([...times].sort((a, b) => a - b))
})
