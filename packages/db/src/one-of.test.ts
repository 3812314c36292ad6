import { expect, test } from 'vitest'
import { oneOf } from './one-of.ts'

test('from 8 on it is filled up', () => {
  const { marks, values } = oneOf([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
  expect(values).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 11, 11, 11, 11, 11])
  expect(marks.match(/\?/g)).toHaveLength(16)
})

test.each([
  [[], '(?)', [null]],
  [['a'], '(?)', ['a']],
  [['a', 'b'], '(?, ?)', ['a', 'b']],
  [['a', 'b', 'c'], '(?, ?, ?)', ['a', 'b', 'c']],
])('%j', (values, marks, filled) => {
  expect(oneOf(values)).toEqual({ marks, values: filled })
})
