import { expect, test } from 'vitest'
import { count, plainLine } from './count.mjs'

/** @param {string[]} states @param {boolean} isOk */
const module = (states, isOk = !states.includes('failed')) => ({
  ok: () => isOk,
  children: { allTests: () => states.map((state) => ({ result: () => ({ state }) })) },
})

test('counts add up over files and projects; what did not run counts as skipped', () => {
  const counts = count([module(['passed', 'failed', 'skipped']), module(['passed', 'pending'])], [])
  expect(plainLine(counts)).toBe('2 passed, 1 failed, 2 skipped')
})

test('a file that cannot be loaded is a failure, though it has no failed test', () => {
  expect(count([module(['passed']), module([], false)], [])).toEqual({ passed: 1, failed: 1, skipped: 0 })
})

test('a hook that throws skips its tests and still is a failure', () => {
  expect(count([module(['skipped', 'skipped'], false)], [])).toEqual({ passed: 0, failed: 1, skipped: 2 })
})

test('an error outside of any test is a failure', () => {
  expect(count([module(['passed'])], [new Error('late')])).toEqual({ passed: 1, failed: 1, skipped: 0 })
})
