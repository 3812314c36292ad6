import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { importsAgainstTheArrows, importsOf } from './check-imports.mjs'

/** @type {string[]} */
const folders = []

/** @param {Record<string, string>} texts */
function check(texts) {
  const root = mkdtempSync(join(tmpdir(), 'garner-imports-'))
  folders.push(root)
  for (const [path, text] of Object.entries(texts)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  return importsAgainstTheArrows(root, Object.keys(texts))
}

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true })
})

const feature = 'apps/server/src/features'

test.each([
  [`${feature}/reading/routes.ts`, '../accounts/queries.ts', 'features never import each other'],
  [`${feature}/reading/routes.ts`, '../../main.ts', 'main.ts chooses the concrete things'],
  ['apps/server/src/outbound/page.ts', '../features/reading/queries.ts', 'outbound knows no feature'],
  ['apps/server/src/outbound/page.ts', '@garner/jobs', 'outbound knows no library but @garner/db'],
  ['packages/jobs/src/worker.ts', '@garner/cache', 'libraries never import each other'],
  ['packages/jobs/src/worker.ts', '@garner/sim', 'nothing imports the simulation'],
  ['packages/jobs/src/worker.ts', '@garner/server/api', 'libraries know nothing of the applications'],
  [
    'packages/db/src/index.ts',
    '@garner/jobs',
    '@garner/db is at the bottom|libraries never import each other',
  ],
  [
    'packages/jobs/src/sqlite/store.ts',
    '../memory/store.ts',
    'backends import their contract, never each other',
  ],
  ['packages/jobs/src/decide.ts', 'node:fs', 'pure rules have no clock and no I/O'],
  ['packages/jobs/src/decide.ts', './sqlite/sql.ts', 'pure rules have no clock and no I/O'],
  ['packages/jobs/src/worker.ts', '../../db/src/clock.ts', 'another workspace is imported by its name'],
  ['apps/web/src/main.tsx', '@garner/jobs', 'the browser client knows the server by HTTP'],
  ['apps/web/src/main.tsx', '@garner/server/api', 'the browser client takes types from the server'],
])('%s may not import %s', (path, name, why) => {
  const found = check({ [path]: `import { x } from '${name}'\n` })
  expect(found).toHaveLength(1)
  expect(found[0]).toMatch(new RegExp(`^${path}:1: imports ${name}: (${why})`))
})

test('the arrows themselves are free', () => {
  const found = check({
    'apps/server/src/main.ts': "import './features/reading/routes.ts'\nimport '@garner/jobs/sqlite'\n",
    'apps/server/src/api.ts': "export type { A } from './features/accounts/schemas.ts'\n",
    [`${feature}/reading/routes.ts`]:
      "import { p } from '../../problem.ts'\nimport { q } from './queries.ts'\n",
    [`${feature}/reading/queries.ts`]:
      "import type { J } from '@garner/jobs'\nimport type { D } from '@garner/db'\n",
    [`${feature}/reading/fetch-title.ts`]: "import { page } from '../../outbound/page.ts'\n",
    'apps/server/src/outbound/page.ts': "import type { Clock } from '@garner/db'\n",
    'packages/jobs/src/sqlite/store.ts': "import type { S } from '../store.ts'\nimport '@garner/db/sqlite'\n",
    'packages/jobs/src/sqlite/sql.ts': "import { a } from './table.ts'\n",
    'packages/sim/src/run.ts': "import '@garner/jobs/memory'\nimport '@garner/db'\n",
    'apps/web/src/main.tsx': "import type { Item } from '@garner/server/api'\nimport './styles/base.css'\n",
    'apps/web/src/meals/batch/found-time.ts':
      "import { resolveTaken } from '@garner/server/taken'\nawait import('@garner/server/photo-metadata')\n",
  })
  expect(found).toEqual([])
})

test('a feature that reaches another one through a shared file is found', () => {
  const found = check({
    [`${feature}/reading/routes.ts`]: "import { a } from '../../shared.ts'\n",
    'apps/server/src/shared.ts': "export { a } from './features/accounts/queries.ts'\n",
    [`${feature}/accounts/queries.ts`]: 'export const a = 1\n',
  })
  expect(found).toEqual([
    `${feature}/reading/routes.ts: reaches ${feature}/accounts/queries.ts by way of apps/server/src/shared.ts: ` +
      'features never import each other',
  ])
})

test('tests bring parts together on purpose', () => {
  expect(
    check({ [`${feature}/reading/routes.test.ts`]: "import { a } from '../accounts/queries.ts'\n" }),
  ).toEqual([])
})

test('every way of importing is read, with its line; comments and strings are not', () => {
  const text = [
    "import a from 'one'",
    'import type { B } from "two"',
    'import {',
    '  c,',
    "} from './three.ts'",
    "import './four.ts'",
    "export * from './five.ts'",
    "export type { D } from './six.ts'",
    "const e = await import('./seven.ts')",
    "// import f from 'no'",
    "/* import g from 'no' */",
    'const h = "import i from \'no\'"',
    "const j = 'https://example.org' // from 'no'",
    'export const k = 1',
    "const l = x.from('no')",
  ].join('\n')
  expect(
    importsOf(text).map(({ name, line, isTypeOnly }) => `${line} ${name}${isTypeOnly ? ' type' : ''}`),
  ).toEqual([
    '1 one',
    '2 two type',
    '3 ./three.ts',
    '6 ./four.ts',
    '7 ./five.ts',
    '8 ./six.ts type',
    '9 ./seven.ts',
  ])
})
