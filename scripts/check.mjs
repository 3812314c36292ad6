/**
 * `npm run check`: everything that can be checked without starting anything. All checks run, also after a failure;
 * the exit code is 0 only when all passed. Says what it skipped and why.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ownFiles } from './check/files.mjs'
import { focusedTests } from './check/focused-tests.mjs'
import { importsAgainstTheArrows } from './check-imports.mjs'
import { deadLinks } from './check-links.mjs'
import { run } from './setup/child.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const files = ownFiles(root)

const results = [
  await types('tsconfig.json'),
  await types('apps/web/tsconfig.json'),
  await types('scripts/tsconfig.json'),
  await biome(),
  await script(
    'pages   packages/jobs/docs/api.md says what the code says',
    'packages/jobs/scripts/api.ts',
    '--check',
  ),
  own('links', 'links and anchors in Markdown', () => deadLinks(root, files)),
  own('imports', 'import directions', () => importsAgainstTheArrows(root, files)),
  own('focus', 'no focused tests (.only)', () =>
    focusedTests(files, (path) => readFileSync(join(root, path), 'utf8')),
  ),
]

const failed = results.filter((result) => result === 'failed').length
console.log(failed === 0 ? '\nAll checks passed.' : `\n${failed} of ${results.length} checks failed.`)
process.exitCode = failed === 0 ? 0 : 1

/** @typedef {'passed' | 'failed' | 'skipped'} Result */

/** @param {string} project */
async function types(project) {
  const label = `types   ${project}`
  if (!existsSync(join(root, project))) return report(label, 'skipped', 'there is no such file')
  return program(label, ['typescript', 'bin', 'tsc'], ['-p', project])
}

async function biome() {
  return program(
    'style   Biome, lint and format',
    ['@biomejs', 'biome', 'bin', 'biome'],
    ['check', '--error-on-warnings', '--diagnostic-level=warn'],
  )
}

/**
 * @param {string} label
 * @param {string[]} path within node_modules; run by the Node of this process
 * @param {string[]} args
 */
async function program(label, path, args) {
  const { code, output } = await run(process.execPath, [join(root, 'node_modules', ...path), ...args], {
    cwd: root,
  })
  return report(label, code === 0 ? 'passed' : 'failed', output)
}

/** @param {string} label @param {string} path in this repository @param {string[]} args */
async function script(label, path, ...args) {
  const { code, output } = await run(process.execPath, [join(root, path), ...args], { cwd: root })
  return report(label, code === 0 ? 'passed' : 'failed', output)
}

/** @param {string} name @param {string} what @param {() => string[]} check */
function own(name, what, check) {
  const problems = check()
  return report(`${name.padEnd(8)}${what}`, problems.length === 0 ? 'passed' : 'failed', problems.join('\n'))
}

/** @param {string} label @param {Result} result @param {string} detail @returns {Result} */
function report(label, result, detail) {
  console.log(`${result.padEnd(8)} ${label}${result === 'skipped' ? `: ${detail}` : ''}`)
  if (result === 'failed') console.log(detail.trimEnd().replace(/^/gm, '    '))
  return result
}
