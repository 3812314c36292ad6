import { describe, expect, test } from 'vitest'
import { count, inWords, names, ordinalTry } from './count.ts'
import { bothTogether, changedWords } from './diff.ts'
import { bare, hostOf, hueOf, initialOf, linkIn, safeHref } from './link.ts'

describe('numbers and names', () => {
  test('one is not many', () => {
    expect(count(1, 'link', 'links')).toBe('1 link')
    expect(count(1_284, 'link', 'links')).toBe('1,284 links')
    expect([inWords(5), inWords(11)]).toEqual(['five', '11'])
    expect([ordinalTry(2), ordinalTry(9)]).toEqual(['Second try', 'Try 9'])
    expect(names([])).toBe('nobody')
    expect(names(['Alice', 'Bob', 'Mei'])).toBe('Alice, Bob and Mei')
  })
})

describe('links', () => {
  test.each([
    'javascript:alert(1)',
    'JAVASCRIPT:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    'http://',
    '/reading',
    'mailto:a@b.example',
    '',
  ])('%j is never a link to follow', (address) => {
    expect(safeHref(address)).toBeNull()
    expect(linkIn(address)).toBeNull()
  })

  test('a pasted link may have space around it, and nothing else', () => {
    expect(linkIn('  https://example.org/a?b=c#d\n')).toBe('https://example.org/a?b=c#d')
    expect(linkIn('HTTP://EXAMPLE.org')).toBe('HTTP://EXAMPLE.org')
    expect(linkIn('see https://example.org')).toBeNull()
    expect(linkIn('https://a.example https://b.example')).toBeNull()
    expect(linkIn(`https://example.org/${'x'.repeat(2_100)}`)).toBeNull()
  })

  test('an address is shown short, readable, and never as another', () => {
    expect(bare('https://www.rfc-editor.org/')).toBe('rfc-editor.org')
    expect(bare('https://example.org:8443/a/b?c=d')).toBe('example.org:8443/a/b?c=d')
    expect(bare('https://de.example.org/wiki/Gr%C3%BC%C3%9Fe')).toBe('de.example.org/wiki/Grüße')
    expect(bare('https://example.org/%E2%80%AEgpj.exe')).toBe('example.org/%E2%80%AEgpj.exe')
    expect(bare('https://example.org/%zz')).toBe('example.org/%zz')
    expect(hostOf('not a url')).toBe('not a url')
  })

  test('hues are steady and letters exist', () => {
    expect(hueOf('rfc-editor.org')).toBe(hueOf('rfc-editor.org'))
    expect(hueOf('')).toBeGreaterThanOrEqual(0)
    expect(hueOf('alice')).not.toBe(hueOf('bob'))
    expect([initialOf('“émile”'), initialOf('42'), initialOf('…')]).toEqual(['É', '4', '·'])
  })
})

describe('two versions of a note', () => {
  const changed = (a: string, b: string) =>
    changedWords(a, b)
      .filter((piece) => piece.changed)
      .map((one) => one.text)

  test('only the words that differ are marked', () => {
    expect(
      changed('For Thursday. The part on early expiry.', 'For Tuesday. The part on early expiry. Bring it.'),
    ).toEqual(['Thursday'])
    expect(changed('a b c', 'a b c')).toEqual([])
    expect(changed('new words', '')).toEqual(['new', 'words'])
    expect(changed('', 'gone')).toEqual([])
    expect(changed('one two three four', 'one 2 three 4')).toEqual(['two', 'four'])
  })

  test('the pieces are the text, whatever it is', () => {
    for (const text of ['', ' \n ', 'Grüße, 世界!', 'a  b\tc', '👩‍👩‍👧 ok', 'x'.repeat(3_000)]) {
      expect(
        changedWords(text, 'something else')
          .map((piece) => piece.text)
          .join(''),
      ).toBe(text)
    }
    const long = Array.from({ length: 2_000 }, (_, i) => `w${i}`).join(' ')
    expect(changedWords(long, `${long} more`).every((piece) => !piece.changed)).toBe(true)
  })

  test('putting both together loses neither and repeats neither', () => {
    expect(bothTogether('theirs', 'mine')).toBe('theirs\nmine')
    expect(bothTogether('a note', 'a note and more')).toBe('a note and more')
    expect(bothTogether('a note and more', 'a note')).toBe('a note and more')
    expect(bothTogether('', 'mine')).toBe('mine')
  })
})
