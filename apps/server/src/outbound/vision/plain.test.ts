import fc from 'fast-check'
import { expect, test } from 'vitest'
import { plainText } from './plain.ts'

test.for([
  ['Rice, chicken', 'Rice, chicken'],
  ['  two\n\tlines ', 'two lines'],
  ['<b>bold</b> rice', 'bold rice'],
  ['soup <img src=x onerror="alert(1)">', 'soup'],
  ['soup <img src=x onerror=alert(1)', 'soup'],
  ['less < 5 g, more > 3 g', 'less < 5 g, more > 3 g'],
  ['a\u202Eb\u2066c\u200Bd\u0000e\uFEFFf', 'abcd ef'],
  ['Crème brûlée 🍮', 'Crème brûlée 🍮'],
  ['👩‍🍳', '👩‍🍳'],
] as const)('%j becomes %j', ([said, kept]) => {
  expect(plainText(said, 500)).toBe(kept)
})

test('is cut to its length, never in the middle of a character', () => {
  expect(plainText('A'.repeat(2000), 500)).toBe('A'.repeat(500))
  expect(plainText('aaa🍕', 4)).toBe('aaa')
})

test.for([null, 5, ['a'], { a: 1 }, undefined])('%j is no text', (said) => {
  expect(plainText(said, 500)).toBe('')
})

test('whatever is written: short, well formed, nothing hidden, no markup', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (said) => {
      const kept = plainText(said, 40)
      expect(kept.length).toBeLessThanOrEqual(40)
      expect(kept.isWellFormed()).toBe(true)
      expect(kept).not.toMatch(/[\p{Cc}\u202A-\u202E\u2066-\u2069]/u)
      expect(kept).not.toMatch(/<[a-z][^>]*>/i)
    }),
  )
})
