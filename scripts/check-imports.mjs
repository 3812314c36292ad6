/**
 * Who may import whom: `node scripts/check-imports.mjs [ROOT]`. ARCHITECTURE.md has the picture; these are its arrows.
 *
 * Reads import, export-from and import() with a literal name, types included: a type is a dependency too. Tests are
 * free: they bring parts together on purpose.
 */
import { readFileSync, realpathSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ownFiles } from './check/files.mjs'

/** What a file is, as far as the rules are concerned. */
const parts = [
  { pattern: /^apps\/server\/src\/features\/([^/]+)\//, part: 'feature' },
  { pattern: /^apps\/server\/src\/outbound\//, part: 'outbound' },
  { pattern: /^apps\/server\/src\/main\.ts$/, part: 'main' },
  { pattern: /^apps\/server\//, part: 'server' },
  { pattern: /^apps\/web\//, part: 'web' },
  { pattern: /^packages\/([^/]+)\//, part: 'package' },
]

const backend = /^(packages\/[^/]+\/src)\/(memory|sqlite|postgres|sql|valkey)\//
const pureRules = /^packages\/[^/]+\/src\/(?:decide|rank|allowance|entry|share)\.ts$/
const source = /\.(?:[cm]?[jt]s|tsx)$/
/** The only code of the server in the client: pure rules, so that both read the time of a photo alike. */
const sharedCode = new Set(['@garner/server/photo-metadata', '@garner/server/taken'])
/** Tests, suites that others run, and what only tests use. */
const free = /\.(?:test|suite)\.[cm]?[jt]sx?$|\/(?:testing|tests)\/|\/fixtures\/|\.config\.ts$/

/**
 * @param {string} root
 * @param {readonly string[]} files relative to the root
 * @returns {string[]} one line per import against the arrows, `path:line: why`
 */
export function importsAgainstTheArrows(root, files) {
  const sources = files.filter(
    (path) => /^(?:apps|packages)\//.test(path) && source.test(path) && !free.test(path),
  )
  const imports = new Map(sources.map((path) => [path, importsOf(readFileSync(join(root, path), 'utf8'))]))
  const problems = []
  for (const [path, found] of imports) {
    for (const one of found) {
      const why = against(path, one)
      if (why) problems.push(`${path}:${one.line}: imports ${one.name}: ${why}`)
    }
  }
  return [...problems, ...detours(imports)]
}

/**
 * @param {string} path
 * @param {Import} imported
 * @returns {string | undefined}
 */
function against(path, imported) {
  const { name, isTypeOnly } = imported
  const from = partOf(path)
  const target = targetOf(path, name)
  const to = target === undefined ? undefined : partOf(target)
  const own = name.startsWith('@garner/') ? name.split('/').slice(0, 2).join('/') : undefined

  if (target !== undefined && workspaceOf(target) !== workspaceOf(path)) {
    return 'another workspace is imported by its name, through what it exports'
  }
  if (own === '@garner/sim' && from.name !== 'sim') return 'nothing imports the simulation'
  if (to?.part === 'main') return 'main.ts chooses the concrete things; nothing imports it'

  if (from.part === 'feature') {
    if (to?.part === 'feature' && to.name !== from.name) return 'features never import each other'
  } else if (from.part === 'outbound') {
    if (to?.part === 'feature') return 'outbound knows no feature'
    if (own && own !== '@garner/db') return 'outbound knows no library but @garner/db'
  } else if (from.part === 'web') {
    if (sharedCode.has(name)) return undefined
    if (own && name !== '@garner/server/api')
      return 'the browser client knows the server by HTTP and by @garner/server/api'
    if (own && !isTypeOnly) return 'the browser client takes types from the server, never code (import type)'
  } else if (from.part === 'package') {
    if (own === '@garner/server' || own === '@garner/web') return 'libraries know nothing of the applications'
    // The simulation runs the libraries as they are; it is none itself, and nothing stands on it.
    if (own && own !== `@garner/${from.name}` && own !== '@garner/db' && from.name !== 'sim')
      return 'libraries never import each other'
    if (own && from.name === 'db') return '@garner/db is at the bottom and imports no other workspace'
  }

  const [here, there] = [backend.exec(path), target === undefined ? null : backend.exec(target)]
  if (there && here && here[2] !== there[2]) return 'backends import their contract, never each other'
  if (pureRules.test(path) && (there || name.startsWith('node:')))
    return 'pure rules have no clock and no I/O'
  return undefined
}

/**
 * A feature that reaches another one through a shared file of the server: each single import is allowed, the way is
 * not.
 *
 * @param {Map<string, Import[]>} imports
 */
function detours(imports) {
  const problems = []
  for (const path of imports.keys()) {
    const from = partOf(path)
    if (from.part !== 'feature') continue
    const seen = new Set([path])
    const ways = [[path]]
    for (let way = ways.shift(); way; way = ways.shift()) {
      const last = /** @type {string} */ (way.at(-1))
      for (const { name } of imports.get(last) ?? []) {
        const target = targetOf(last, name)
        if (target === undefined || seen.has(target) || !imports.has(target)) continue
        seen.add(target)
        const to = partOf(target)
        if (to.part === 'feature' && to.name !== from.name && way.length > 1) {
          problems.push(
            `${path}: reaches ${target} by way of ${way.slice(1).join(', ')}: features never import each other`,
          )
        } else if (to.part === 'server') ways.push([...way, target])
      }
    }
  }
  return problems
}

/** @param {string} path @returns {{ part: string, name: string }} */
function partOf(path) {
  for (const { pattern, part } of parts) {
    const match = pattern.exec(path)
    if (match) return { part, name: match[1] ?? '' }
  }
  return { part: 'other', name: '' }
}

/** @param {string} path */
const workspaceOf = (path) => path.split('/').slice(0, 2).join('/')

/** The file a relative import means; nothing for packages. @param {string} path @param {string} name */
function targetOf(path, name) {
  if (!name.startsWith('.')) return undefined
  return normalize(join(dirname(path), name)).replaceAll('\\', '/')
}

/**
 * @typedef {{ name: string, line: number, isTypeOnly: boolean }} Import
 * @param {string} text
 * @returns {Import[]}
 */
export function importsOf(text) {
  const code = withoutComments(text)
  const found = forms.flatMap((form) =>
    [...code.matchAll(form)].map(({ index, groups = {} }) => ({
      name: groups.name ?? '',
      line: code.slice(0, index).split('\n').length,
      isTypeOnly: groups.type !== undefined,
    })),
  )
  return found.sort((a, b) => a.line - b.line)
}

const forms = [
  /^[ \t]*import\s+(?<type>type\s+)?(?:[\w$]+\s*,?\s*)?(?:\*\s+as\s+[\w$]+\s*|\{[^}]*\}\s*)?(?:\bfrom\s*)?['"](?<name>[^'"\n]+)['"]/gm,
  /^[ \t]*export\s+(?<type>type\s+)?(?:\*(?:\s+as\s+[\w$]+)?|\{[^}]*\})\s*from\s*['"](?<name>[^'"\n]+)['"]/gm,
  /\bimport\s*\(\s*['"`](?<name>[^'"`\n]+)['"`]/g,
]

/**
 * Comments become spaces; what looks like one inside a string (`'https://…'`, a glob such as "src/**") stays.
 *
 * @param {string} text
 */
function withoutComments(text) {
  const tokens = /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/g
  return text.replace(tokens, (token) => (token.startsWith('/') ? token.replace(/[^\n]/g, ' ') : token))
}

if (isProgram()) {
  const root = process.argv[2] ?? fileURLToPath(new URL('..', import.meta.url))
  const problems = importsAgainstTheArrows(root, ownFiles(root))
  for (const problem of problems) console.error(problem)
  console.log(`${problems.length} imports against the arrows`)
  process.exitCode = problems.length > 0 ? 1 : 0
}

function isProgram() {
  return process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)
}
