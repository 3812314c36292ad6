import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { pageKey } from './page-key.ts'

describe('pageKey', () => {
  test.for([
    ['http://example.com/a', 'https://example.com/a'],
    ['https://example.com', 'https://example.com/'],
    ['https://EXAMPLE.com:443/', 'https://example.com/'],
    ['http://example.com:80/a', 'https://example.com/a'],
    ['https://example.com./a', 'https://example.com/a'],
    ['https://example.com/a/b/../c/', 'https://example.com/a/c'],
    ['https://example.com/a?', 'https://example.com/a'],
    ['https://example.com/a?&&x=1&', 'https://example.com/a?x=1'],
    ['https://example.com/a?q=two+words', 'https://example.com/a?q=two%20words'],
    ['https://bücher.example/', 'https://xn--bcher-kva.example/'],
    ['https://app.example.com/#/notes/1:~:text=x', 'https://app.example.com/#/notes/1'],
    ['https://example.com/?mtm_source=x&fbclid=y', 'https://example.com/'],
  ])('%s is the same page as %s', ([one, other]) => expect(pageKey(one!)).toBe(pageKey(other!)))

  test.for([
    ['https://example.com/a', 'https://www.example.com/a'],
    ['https://example.com:8080/a', 'https://example.com/a'],
    ['https://example.com/a?x=1&x=2', 'https://example.com/a?x=2&x=1'],
    ['https://example.com/a?q=c%2B%2B', 'https://example.com/a?q=c++'],
    ['https://example.com/a?utm=1', 'https://example.com/a'],
    ['https://example.com/a?flag', 'https://example.com/a?flag='],
    ['https://example.com/a%2F', 'https://example.com/a'],
    ['https://example.com/%2541', 'https://example.com/A'],
  ])('%s is another page than %s', ([one, other]) => expect(pageKey(one!)).not.toBe(pageKey(other!)))

  const pieces = fc.constantFrom(
    ...[
      'https://',
      'http://',
      'example.com',
      ':443',
      ':80',
      '/',
      '//',
      '?',
      '&',
      '=',
      '#',
      '#/',
      '#!/',
      '%',
      '%2',
      '%4',
    ],
    ...[
      '%25',
      '31',
      '%2e',
      '65',
      '.',
      '..',
      '+',
      ' ',
      'é',
      'a',
      'B',
      'utm_x',
      '\u00a0',
      '\ufeff',
      '\ud800',
      ':~:',
      '@',
    ],
  )
  const addresses = fc.oneof(
    fc.webUrl({ withQueryParameters: true, withFragments: true }),
    fc.string({ unit: 'binary' }),
    fc.array(pieces, { maxLength: 20 }).map((all) => `https://example.com/${all.join('')}`),
    fc.array(pieces, { maxLength: 20 }).map((all) => all.join('')),
  )

  test('never throws, and the key of a key is the key', () => {
    fc.assert(
      fc.property(addresses, (address) => {
        const key = pageKey(address)
        expect(pageKey(key)).toBe(key)
      }),
      { numRuns: 2_000 },
    )
  })
})
