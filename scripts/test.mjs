/**
 * Every test: `npm test`, or `npm test -- FILTER` for the files whose path contains FILTER.
 *
 * Builds the browser client, since the process and browser tests use it; provides a Chromium where it can; then runs
 * the projects of vitest.config.ts. The last line is always `N passed, N failed, N skipped`. The exit code is 0 only
 * when something ran and nothing failed.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { SetupFailure } from './setup/failure.mjs'
import { buildWeb, isBuilt } from './setup/web.mjs'
import { provideChromium } from './test/chromium.mjs'
import { plainLine } from './test/count.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const say = (/** @type {string} */ sentence) => console.log(`Garner: ${sentence}`)

const clientBuilds = await tryToBuildClient()
const chromium = provideChromium(say)
const { code, counts } = await runVitest(process.argv.slice(2))

if (!clientBuilds) counts.failed += 1
// Vitest can fail without a count: a bad option, a crash, no file that matches the filter.
if (code !== 0 && counts.failed === 0) counts.failed = 1
const ran = counts.passed + counts.failed > 0
if (!ran) say('No test ran.')
if (!chromium) say('The browser tests were skipped: there is no Chromium on this machine (see above).')
console.log(`\n${plainLine(counts)}`)
process.exitCode = ran && counts.failed === 0 ? 0 : 1

async function tryToBuildClient() {
  try {
    if (!isBuilt(root)) await buildWeb(root, { say })
    return true
  } catch (error) {
    if (!(error instanceof SetupFailure)) throw error
    say(error.message)
    return false
  }
}

/**
 * @param {string[]} args
 * @returns {Promise<{ code: number, counts: import('./test/count.mjs').Counts }>}
 */
async function runVitest(args) {
  const scratch = mkdtempSync(join(tmpdir(), 'garner-test-'))
  const countsPath = join(scratch, 'counts.json')
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
  const reporter = join(root, 'scripts', 'test', 'count.mjs')
  const browser = chromium ? { CHROMIUM: chromium } : {}
  const env = { ...process.env, ...browser, TEST_COUNTS_PATH: countsPath }
  try {
    const child = spawn(
      process.execPath,
      [vitest, 'run', '--reporter=default', `--reporter=${reporter}`, ...args],
      { cwd: root, env, stdio: ['ignore', 'inherit', 'inherit'] },
    )
    // A Ctrl+C reaches Vitest by itself; this process waits, to clean up and to print the line.
    process.on('SIGINT', () => {})
    process.on('SIGTERM', () => child.kill('SIGTERM'))
    const code = await new Promise((resolve) => {
      child.on('error', () => resolve(1))
      child.on('close', (status) => resolve(status ?? 1))
    })
    return { code, counts: readCounts(countsPath) }
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** @param {string} path @returns {import('./test/count.mjs').Counts} */
function readCounts(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return { passed: 0, failed: 0, skipped: 0 }
  }
}
