import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { checkSavedUrl, URL_MAX } from './saved-url.ts'

describe('checkSavedUrl', () => {
  test.for([
    'https://example.com',
    'HTTPS://Example.COM/A?b=C#d',
    'http://intranet/app',
    'http://[2001:db8::1]:8080/',
    'https://example.com/100%-wool',
    'https://пример.испытание/страница?q=да',
    'https://example.com/a b',
    'https://example.com/s?a=1*2&q=%20x+y&e=&flag&_gl=1*zzz',
    'https://example.com/a@b?c=d@e',
    'https://example.com/\u202e',
  ])('%s is kept byte for byte', (url) => expect(checkSavedUrl(url)).toEqual({ ok: true, url }))

  test('white space around an address comes along with every copy, and is left off', () => {
    expect(checkSavedUrl(' \thttps://example.com/c\r\n')).toEqual({ ok: true, url: 'https://example.com/c' })
  })

  test.for([
    ['', /^Give the address/],
    ['   ', /^Give the address/],
    ['example.com', /http:\/\//],
    ['//example.com/', /http:\/\//],
    ['https:example.com', /http:\/\//],
    ['https:\\\\example.com', /http:\/\//],
    ['ftp://example.com/', /http:\/\//],
    ['https://', /host/],
    ['https:///path', /host/],
    ['https://?q', /host/],
    ['https://exa mple.com/', /host/],
    ['https://example.com:99999/', /host/],
    ['https://256.256.256.256/', /host/],
    ['https://user:secret@example.com/', /password/],
    ['https://user@example.com/', /password/],
    ['https://@example.com/', /password/],
    ['https://exam\nple.com/', /control/],
    ['https://example.com/\u0000', /control/],
    ['https://example.com/\u0085', /control/],
    ['https://example.com/\ud800', /surrogate/],
    ['java\nscript:alert(1)', /control/],
    ['\u00a0https://example.com/', /http:\/\//],
  ] as const)('%j is refused with a reason', ([text, message]) => {
    const checked = checkSavedUrl(text)
    expect(checked.ok).toBe(false)
    if (!checked.ok) expect(checked.message).toMatch(message)
  })

  test('the limit counts characters, not code units', () => {
    const of = (length: number) => `https://example.com/${'😀'.repeat(length - 20)}`
    expect(checkSavedUrl(of(URL_MAX)).ok).toBe(true)
    expect(checkSavedUrl(of(URL_MAX + 1)).ok).toBe(false)
  })

  test('whatever passes is a part of what was given, and an http address for every parser', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.webUrl({ withQueryParameters: true }), fc.string({ unit: 'binary' })),
        (text) => {
          const checked = checkSavedUrl(text)
          if (!checked.ok) return
          expect(text).toContain(checked.url)
          expect(new URL(checked.url).protocol).toMatch(/^https?:$/)
          expect(checkSavedUrl(checked.url)).toEqual(checked)
        },
      ),
    )
  })
})
