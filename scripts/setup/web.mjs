/**
 * The browser client, built into apps/web/dist.
 *
 * Promises: after `buildWeb`, dist/ is the build of the sources as they are. `isBuilt` looks at names, sizes and times
 * of the sources only; a few milliseconds, since every start pays for it.
 *
 * Cut at a seam: the build goes to dist.next, with its stamp inside, and takes dist's place by renaming. Cut before
 * that, dist is the old build with the old stamp; cut between the two renames, dist is missing; in both cases the next
 * command builds again. A server that is running hands out the old files until the rename.
 */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { run } from './child.mjs'
import { SetupFailure } from './failure.mjs'
import { runtimePath } from './install.mjs'

const stampName = '.garner-build.json'
/** Not part of what a browser gets: builds, packages, tests and what they write. */
const notSources = new Set([
  'dist',
  'dist.next',
  'dist.old',
  'node_modules',
  'testing',
  'test-results',
  '.DS_Store',
])

/** @param {string} root */
const webPath = (root) => join(root, 'apps', 'web')

/** @param {string} root */
export function isBuilt(root) {
  const stampPath = join(webPath(root), 'dist', stampName)
  const stamp = readStamp(stampPath)
  if (!stamp) return false
  const quick = quickHash(root)
  if (stamp.quick === quick) return true
  // Times change without the text, as by switching branches there and back.
  if (stamp.content !== contentHash(root)) return false
  try {
    writeFileSync(stampPath, JSON.stringify({ ...stamp, quick }))
  } catch {
    // A read-only checkout: the contents are compared each time.
  }
  return true
}

/**
 * @param {string} root
 * @param {{ say: (sentence: string) => void, working?: (childPid: number) => void }} how
 */
export async function buildWeb(root, { say, working }) {
  const web = webPath(root)
  const [dist, next, old] = [join(web, 'dist'), join(web, 'dist.next'), join(web, 'dist.old')]
  const reason = existsSync(join(dist, stampName)) ? 'its sources have changed' : 'it is not built yet'
  say(`Building the browser client into apps/web/dist: ${reason}. A few seconds.`)
  // Taken before the build: an edit made while it runs asks for another one.
  const stamp = { quick: quickHash(root), content: contentHash(root) }
  const vite = join(root, 'node_modules', 'vite', 'bin', 'vite.js')
  const { code, output } = await run(
    runtimePath(root),
    [vite, 'build', '--outDir', 'dist.next', '--emptyOutDir', '--logLevel', 'warn'],
    { cwd: web, ...(working ? { onStart: working } : {}) },
  )
  if (code !== 0) throw new SetupFailure(`The browser client does not build. Vite says:\n${output.trim()}`)
  writeFileSync(join(next, stampName), JSON.stringify(stamp))
  rmSync(old, { recursive: true, force: true })
  try {
    renameSync(dist, old)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
  }
  renameSync(next, dist)
  rmSync(old, { recursive: true, force: true })
}

/** @param {string} path @returns {{ quick: string, content: string } | undefined} */
function readStamp(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return undefined
  }
}

/** @param {string} root */
function quickHash(root) {
  const hash = createHash('sha256')
  for (const path of sources(root)) {
    const { size, mtimeMs } = statSync(path)
    hash.update(`${relative(root, path)}\0${size}\0${mtimeMs}\n`)
  }
  return hash.digest('hex')
}

/** @param {string} root */
function contentHash(root) {
  const hash = createHash('sha256')
  for (const path of sources(root)) {
    hash
      .update(`${relative(root, path)}\0`)
      .update(readFileSync(path))
      .update('\0')
  }
  return hash.digest('hex')
}

/** @param {string} root */
function sources(root) {
  const found = [join(root, 'package-lock.json'), join(root, 'tsconfig.base.json')]
  const visit = (/** @type {string} */ folder) => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      if (notSources.has(entry.name) || /\.test\.tsx?$/.test(entry.name)) continue
      const path = join(folder, entry.name)
      if (entry.isDirectory()) visit(path)
      else if (entry.isFile()) found.push(path)
    }
  }
  visit(webPath(root))
  return found.sort()
}
