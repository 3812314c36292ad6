/**
 * The browser for the browser tests: Debian's chromium, or any Chromium or Chrome that is there already.
 */
import { spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** First the one without windows: the others draw a whole browser around each page, which costs as much as the page. */
const names = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome-stable',
  'google-chrome',
]
const elsewhere = [
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]

/**
 * @param {NodeJS.ProcessEnv} env `CHROMIUM` names a browser and comes before all others
 * @returns {string | undefined}
 */
export function findChromium(env = process.env) {
  if (env.CHROMIUM) return env.CHROMIUM
  const folders = (env.PATH ?? '').split(delimiter).filter(Boolean)
  const paths = names.flatMap((name) => folders.map((folder) => join(folder, name)))
  return [...paths, ...elsewhere].find(isProgram)
}

/** @param {string} path */
function isProgram(path) {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/**
 * @param {(sentence: string) => void} say
 * @returns {string | undefined} nothing where it is missing and cannot be installed; what to do has been said then
 */
export function provideChromium(say) {
  const found = findChromium()
  if (found) return found
  if (!isProgram('/usr/bin/apt-get')) {
    say('No Chromium here. Install Chromium or Chrome, or name one in CHROMIUM, to run the browser tests.')
    return undefined
  }
  if (process.getuid?.() !== 0) {
    say('No Chromium here. `sudo apt-get install chromium` once, and `npm test` runs the browser tests too.')
    return undefined
  }
  say("Installing Debian's chromium for the browser tests (apt-get install chromium). A minute or two, once.")
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const install = () => aptGet(['install', '-y', '--no-install-recommends', 'chromium'], env)
  // Package lists may be missing (a fresh container) or old; then they are read first.
  const tried = hasPackageLists() ? install() : { ok: false, output: '' }
  const result = tried.ok || !aptGet(['update'], env).ok ? tried : install()
  const installed = findChromium()
  if (!installed) {
    const lines = result.output.trim().split('\n').slice(-3).join('\n  ')
    say(`Chromium could not be installed; apt-get says:\n  ${lines}`)
  }
  return installed
}

const hasPackageLists = () => existsSync('/var/cache/apt/pkgcache.bin')

/** @param {string[]} args @param {NodeJS.ProcessEnv} env */
function aptGet(args, env) {
  // Ten minutes: a mirror that hangs must not hang the tests.
  const { status, stdout, stderr, error } = spawnSync('apt-get', ['-q', ...args], {
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 600_000,
  })
  return { ok: status === 0, output: `${stdout}${stderr}${error?.message ?? ''}` }
}
