import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { ownFiles } from './check/files.mjs'
import { anchorsOf, deadLinks, linksOf } from './check-links.mjs'

/** @type {string[]} */
const folders = []

/** @param {Record<string, string>} texts @param {string[]} [known] */
function deadIn(texts, known = Object.keys(texts)) {
  const root = mkdtempSync(join(tmpdir(), 'garner-links-'))
  folders.push(root)
  for (const [path, text] of Object.entries(texts)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  return deadLinks(root, known)
}

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true })
})

test('a link to a missing file is named with its line', () => {
  expect(deadIn({ 'docs/a.md': 'One\n\n[two](../b.md)\n' })).toEqual(['docs/a.md:3: ../b.md: no such file'])
})

test('links to files, folders, headings, lines and the outside are alive', () => {
  const text = [
    '# Title',
    '[file](docs/b.md) [folder](docs/) [heading](#title) [far](docs/b.md#deep--down "words")',
    '[code](src/c.ts#L2) ![shot](<docs/the shot.png>) [root](/docs/b.md) [web](https://example.org/none#x)',
    '<a href="docs/b.md#deep--down">x</a> <img src="docs/the%20shot.png"> [ref][r] [mail](mailto:a@example.org)',
    '',
    '[r]: docs/b.md',
  ]
  expect(
    deadIn({
      'README.md': text.join('\n'),
      'docs/b.md': 'Deep & Down\n===========\n',
      'docs/the shot.png': '',
      'src/c.ts': 'a\nb\n',
    }),
  ).toEqual([])
})

test('a missing heading, a line past the end, a way out and an image are found', () => {
  const dead = deadIn({
    'a.md':
      '[x](b.md#nowhere)\n[y](c.ts#L9)\n[z](../out.md)\n![p](p.png)\n<a href="q.md">q</a>\n\n[r]: s.md\n',
    'b.md': '# Somewhere\n',
    'c.ts': 'one line\n',
  })
  expect(dead).toEqual([
    'a.md:1: b.md#nowhere: no such heading in b.md',
    'a.md:2: c.ts#L9: c.ts has 2 lines',
    'a.md:3: ../out.md: leads out of the repository',
    'a.md:4: p.png: no such file',
    'a.md:5: q.md: no such file',
    'a.md:7: s.md: no such file',
  ])
})

test('a file that git does not carry is dead for everyone else', () => {
  const texts = { 'a.md': '[built](dist/x.html)', 'dist/x.html': '' }
  expect(deadIn(texts, ['a.md'])).toEqual(['a.md:1: dist/x.html: is not part of the repository'])
})

test('what stands in code or comments is no link, and no heading', () => {
  const text =
    '```sh\n[a](none.md)\n# no heading\n```\n`[b](none.md)` <!-- [c](none.md) -->\n~~~\n[d](none.md)\n~~~\n'
  expect(linksOf(text)).toEqual([])
  expect([...anchorsOf(text)]).toEqual([])
})

test('anchors follow GitHub: punctuation goes, spaces become hyphens, repeats are numbered', () => {
  const text =
    '# `npm start`: what happens?\n## Twice\n## Twice\n## [A link](x.md) – *and* more_words\n<a id="own"></a>\n'
  expect([...anchorsOf(text)]).toEqual([
    'npm-start-what-happens',
    'twice',
    'twice-1',
    'a-link--and-more_words',
    'own',
  ])
})

test('outside of a git checkout every file counts but packages and builds', () => {
  const root = mkdtempSync(join(tmpdir(), 'garner-files-'))
  folders.push(root)
  for (const path of ['a.md', 'docs/b.md', 'node_modules/c/README.md', 'apps/web/dist/d.md']) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), '')
  }
  expect(ownFiles(root)).toEqual(['a.md', 'docs/b.md'])
})
