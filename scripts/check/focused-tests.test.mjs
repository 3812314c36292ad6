import { expect, test } from 'vitest'
import { focusedTests } from './focused-tests.mjs'

// Put together here, or this file would be a finding itself.
const only = (/** @type {string} */ start) => `${start}.${'only'}`

test('a focused test is found in every spelling, with its line', () => {
  const texts = {
    'a.test.ts': `test('x', () => {})\n${only('it')}('y', () => {})\n`,
    'b.test.tsx': `${only('describe.concurrent')}('z', () => {})\n`,
    'c.suite.ts': `${only('test')}.each([1])('w', () => {})\n`,
  }
  expect(
    focusedTests(Object.keys(texts), (path) => /** @type {Record<string, string>} */ (texts)[path] ?? ''),
  ).toEqual([
    `a.test.ts:2: ${only('it')}('y', () => {})`,
    `b.test.tsx:1: ${only('describe.concurrent')}('z', () => {})`,
    `c.suite.ts:1: ${only('test')}.each([1])('w', () => {})`,
  ])
})

test('the word elsewhere is no focus', () => {
  const text = "queue.only('x')\nexpect(list).toEqual(['only'])\n"
  expect(focusedTests(['a.test.ts'], () => text)).toEqual([])
  expect(focusedTests(['a.ts'], () => only('test'))).toEqual([])
})
