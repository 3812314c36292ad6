import fc from 'fast-check'
import iconv from 'iconv-lite'
import { describe, expect, test } from 'vitest'
import { junkKind } from './junk-titles.ts'
import { PageReader } from './page-reader.ts'
import { cleanTitle, TITLE_MAX } from './title.ts'

/** Reads a page as if it had come in pieces of `size` bytes. */
function titleOf(page: string | Buffer, { type = 'text/html', size = 1 << 16, wasRedirected = false } = {}) {
  const bytes = Buffer.from(page as string)
  const reader = new PageReader(type)
  for (let at = 0; at < bytes.length; at += size) reader.write(bytes.subarray(at, at + size))
  reader.end()
  return reader.titles({ wasRedirected }).title
}

describe('cleanTitle', () => {
  const parts = fc.constantFrom(
    ...[
      'a',
      'É',
      '山',
      '😀',
      ' ',
      '\n',
      '\u00a0',
      '\u200b',
      '\u202e',
      '\u202a',
      '\u202c',
      '\u2066',
      '\u2069',
    ],
    ...[
      '\u200f',
      '\u0000',
      '\u0085',
      '\u00ad',
      '\ufeff',
      '\ufffd',
      '\ud800',
      '\u0301',
      '\u2028',
      '\u200d',
      '…',
    ],
  )
  const titles = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 700 }),
    fc.array(parts, { maxLength: 700 }).map((all) => all.join('')),
  )

  test('whatever comes in, what comes out can be stored, shown on one line, and read', () => {
    fc.assert(
      fc.property(titles, (text) => {
        const title = cleanTitle(text)
        if (title === null) return
        expect(title).toBe(title.trim())
        expect(title).not.toMatch(/[\r\n\t\u2028\u2029\u202d\u202e\ufffd\u200b\ufeff]|\s\s/)
        expect(title).toMatch(/[^\s\p{Cf}\p{Cc}]/u)
        expect([...title].length).toBeLessThanOrEqual(TITLE_MAX)
        expect(title.isWellFormed()).toBe(true)
        const opens = title.match(/[\u202a\u202b\u2066-\u2068]/g)?.length ?? 0
        expect(title.match(/[\u202c\u2069]/g)?.length ?? 0).toBe(opens)
      }),
    )
  })

  test('cleaning a clean title changes nothing', () => {
    fc.assert(
      fc.property(titles, (text) => {
        const title = cleanTitle(text)
        if (title !== null) expect(cleanTitle(title)).toBe(title)
      }),
    )
  })

  test('emoji, Persian and Hebrew keep the invisible characters they are made of', () => {
    for (const title of [
      '👩\u200d👩\u200d👧 recipes',
      'می\u200cخواهم',
      'שלום\u200f!',
      '\u2067שלום\u2069 in English',
    ]) {
      expect(cleanTitle(title)).toBe(title)
    }
  })

  test('a closed override is removed too: "Invoice exe.pdf" must not come from a program', () => {
    expect(cleanTitle('Invoice \u202efdp.exe\u202c')).toBe('Invoice fdp.exe')
  })

  test('a long title is cut between characters and says so', () => {
    const title = cleanTitle('😀'.repeat(600))!
    expect([...title]).toHaveLength(TITLE_MAX)
    expect(title.endsWith('😀…')).toBe(true)
  })
})

describe('the title of a page', () => {
  test('does not depend on how the bytes were cut into pieces', () => {
    const page = Buffer.from(
      '<!doctype html><html><head><meta charset="utf-8"><script>"<title>no</title>"</script>' +
        '<title>Größe &amp; Maß – 山</title></head><body>x</body></html>',
    )
    for (let size = 1; size <= page.length; size++) expect(titleOf(page, { size })).toBe('Größe & Maß – 山')
  })

  test.for([
    ['windows-1251', 'Как приготовить борщ: пошаговый рецепт'],
    ['koi8-r', 'Как приготовить борщ: пошаговый рецепт'],
    ['shift_jis', 'おいしいカレーの作り方'],
    ['euc-jp', 'おいしいカレーの作り方'],
    ['gb18030', '如何做一道好吃的红烧肉'],
    ['big5hkscs', '如何做一道好吃的紅燒肉'],
    ['cp949', '맛있는 김치찌개 만드는 법'],
    ['windows-1252', 'Crème brûlée à la façon de grand-mère'],
    ['windows-1252', 'Möhren im Ofen – schnell'],
  ] as const)('undeclared %s is recognised: %s', ([charset, title]) => {
    expect(titleOf(iconv.encode(`<html><head><title>${title}</title></head></html>`, charset))).toBe(title)
  })

  test('valid UTF-8 is UTF-8, although header and server default say Latin-1', () => {
    expect(titleOf('<title>Möhren</title>', { type: 'text/html; charset=ISO-8859-1' })).toBe('Möhren')
  })

  test('two Chinese characters that happen to be valid UTF-8 stay GBK when GBK was declared', () => {
    const page = iconv.encode('<meta charset=gbk><title>聞忙聤鬧</title>', 'gbk')
    expect(titleOf(page)).toBe('聞忙聤鬧')
  })

  test('ISO-2022-JP is decoded before it is read: its letters look like markup', () => {
    const page = Buffer.concat([
      Buffer.from('<html><head><title>'),
      Buffer.from('\x1b$B;3\x1b(B', 'latin1'),
      Buffer.from('</title></head></html>'),
    ])
    expect(titleOf(page, { type: 'text/html; charset=iso-2022-jp' })).toBe('山')
  })

  test('UTF-16 without a mark, by header or by its look', () => {
    const page = Buffer.from('<html><head><title>Žluť</title></head></html>', 'utf16le')
    expect(titleOf(page, { type: 'text/html; charset=utf-16' })).toBe('Žluť')
    expect(titleOf(page)).toBe('Žluť')
    expect(titleOf('<html><title>Plain</title>', { type: 'text/html; charset=utf-16' })).toBe('Plain')
  })

  test('a stored U+FFFD is never shown, nor decoded into three other wrong letters', () => {
    expect(titleOf('<title>Caf\ufffd</title><meta property="og:title" content="Café">')).toBe('Café')
    expect(titleOf('<title>Caf\ufffd</title>')).toBe(null)
  })

  test('a broken preview title does not spoil the good one, nor the other way round', () => {
    const good = Buffer.from('<meta charset=utf-8><title>Größe</title><meta property=og:title content="Gr')
    expect(titleOf(Buffer.concat([good, Buffer.from([0xf6, 0xdf]), Buffer.from('e">')]))).toBe('Größe')
  })

  test('an SVG that nobody closed does not swallow the title', () => {
    expect(titleOf('<head><svg><path d=""><meta charset=utf-8><title>After the icon</title></head>')).toBe(
      'After the icon',
    )
  })

  test('XHTML scripts that close themselves have no content; HTML ones do', () => {
    const page = '<html><head><script src="a.js"/><title>Closed itself</title></head><body/></html>'
    expect(titleOf(page, { type: 'application/xhtml+xml' })).toBe('Closed itself')
    expect(titleOf(page)).toBe(null)
  })

  test('an empty first title gives way to a second one', () => {
    expect(titleOf('<title> </title><title>Rendered on the server</title>')).toBe('Rendered on the server')
  })

  test('a million open tags cost neither stack nor much time', () => {
    const started = performance.now()
    expect(titleOf(`${'<b>'.repeat(1_000_000)}<title>At the bottom</title>`)).toBe('At the bottom')
    expect(performance.now() - started).toBeLessThan(5_000)
  })

  test('whatever bytes come, reading them never throws', () => {
    const soup = fc.array(
      fc.constantFrom(
        ...[
          '<title>',
          '</title>',
          '<!--',
          '-->',
          '<svg>',
          '</svg>',
          '<meta charset=',
          'gbk',
          '"',
          '>',
          '<',
          '&',
          '&#x',
        ],
        ...[
          '&eacute',
          '<template>',
          '<noscript>',
          '<meta http-equiv=refresh content="0;url=',
          '\x00',
          '\x1b$B',
          'é',
        ],
      ),
      { maxLength: 60 },
    )
    fc.assert(fc.property(soup, (parts) => void titleOf(parts.join(''), { size: 7 })))
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 400 }),
        (bytes) => void titleOf(Buffer.from(bytes), { size: 5 }),
      ),
    )
  })
})

describe('titles that are not titles', () => {
  test.for([
    ['Just a moment...', 'challenge'],
    ['Attention Required! | Cloudflare', 'challenge'],
    ['Making sure you&#39;re not a bot!'.replace('&#39;', "'"), 'challenge'],
    ['Before you continue to ExampleTube', 'consent'],
    ['404 Not Found', 'empty'],
    ['Untitled Document', 'empty'],
    ['Log in – Example', 'login'],
    ['Just a moment: a short history of the pause', undefined],
    ['404 ways to cook an egg', undefined],
    ['Loading docks of Hamburg', undefined],
    ['Access denied: a memoir', undefined],
    ['Home', undefined],
  ] as const)('%s is %s', ([title, kind]) => {
    expect(junkKind(title)).toBe(kind)
  })

  test('a login page is a title when it was asked for, and none at the end of a redirect', () => {
    const page = '<title>Log in</title>'
    expect(titleOf(page)).toBe('Log in')
    expect(titleOf(page, { wasRedirected: true })).toBe(null)
  })

  test('a separator in front of a real title keeps it when the site has another name', () => {
    const site = '<meta property="og:site_name" content="Blog">'
    expect(titleOf(`<title>— a short story</title>${site}`)).toBe('— a short story')
    expect(titleOf(`<title>Blog |</title>${site}`)).toBe(null)
    expect(titleOf('<title>A title that lost its site |</title>')).toBe('A title that lost its site |')
    expect(titleOf('<title>|</title>')).toBe(null)
  })
})
