import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cleanLine, cleanText } from './text.ts'

test.each([
  ['  two   words ', 'two words'],
  ['a\r\nb\tc', 'a b c'],
  ['a\u0000b\u0007c\u009f', 'abc'],
  ['safe\u202egpj.exe', 'safegpj.exe'],
  ['\u2066isolated\u2069', 'isolated'],
  ['עברית\u200f!', 'עברית\u200f!'],
  ['\u200b\u200d \u2060', ''],
  ['\u00a0', ''],
  ['half \ud800 pair', 'half \ufffd pair'],
  ['👩‍👩‍👧', '👩‍👩‍👧'],
  ['', ''],
])('a line: %j becomes %j', (text, expected) => expect(cleanLine(text)).toBe(expected))

test.each([
  ['one\r\ntwo\rthree', 'one\ntwo\nthree'],
  ['  indented\n   more ', 'indented\n   more'],
  ['a\u0000\u202eb', 'ab'],
  [' \n\t\u200b ', ''],
])('several lines: %j becomes %j', (text, expected) => expect(cleanText(text)).toBe(expected))

describe('whatever is typed', () => {
  test.each([
    ['a line', cleanLine],
    ['several lines', cleanText],
  ])(
    'cleaning %s twice is cleaning it once, and leaves nothing that cannot be stored or turns rows around',
    (_, clean) => {
      fc.assert(
        fc.property(fc.string({ unit: 'binary' }), (text) => {
          const once = clean(text)
          expect(clean(once)).toBe(once)
          expect(once.isWellFormed()).toBe(true)
          expect(once).not.toContain('\u0000')
          expect(once).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/)
        }),
      )
    },
  )
})
