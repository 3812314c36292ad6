/**
 * node_modules as package-lock.json says, with the pinned Node in it.
 *
 * Promises: after `install` the packages are those of the lock file, and node_modules/node/bin/node is the version
 * that package.json pins. `isInstalled` costs two small reads.
 *
 * Cut at a seam: the stamp is the last thing written, inside node_modules, and `npm ci` empties that folder first. So
 * a set-up cut off anywhere leaves no stamp, and the next command does it again from the start; npm's own cache makes
 * that quick.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { run } from './child.mjs'
import { explainNpmFailure, SetupFailure } from './failure.mjs'
import { environmentForNpm, findNpm, quietly } from './npm.mjs'

const binary = process.platform === 'win32' ? 'node.exe' : 'node'

/** @param {string} root */
export const stampPath = (root) => join(root, 'node_modules', '.garner-installed.json')

/** The pinned Node. @param {string} root */
export const runtimePath = (root) => join(root, 'node_modules', 'node', 'bin', binary)

/** @param {string} root @returns {string} such as "24.21.0" */
export function pinnedVersion(root) {
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).dependencies.node
}

/** Whatever changes this text asks for a new install. @param {string} root */
function wanted(root) {
  const lock = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex')
  return JSON.stringify({ lock, node: pinnedVersion(root), platform: process.platform, arch: process.arch })
}

/** @param {string} root */
export function isInstalled(root) {
  try {
    return readFileSync(stampPath(root), 'utf8') === wanted(root) && existsSync(runtimePath(root))
  } catch {
    return false
  }
}

/**
 * @param {string} root
 * @param {{ say: (sentence: string) => void, working: (childPid: number) => void }} how
 */
export async function install(root, { say, working }) {
  if (followsLockFile(root)) return writeStamp(root)

  const version = pinnedVersion(root)
  say(
    `Installing packages and Node ${version} into node_modules: ${reasonToInstall(root)}. Up to a minute, 450 MB.`,
  )

  const npm = findNpm()
  const scratch = join(root, '.setup', 'runtime')
  rmSync(scratch, { recursive: true, force: true })
  try {
    // npm leaves out optional native parts that the Node running it is too old for, without a word. So the pinned
    // Node runs npm, and a machine with Node 18 gets the same packages as one with Node 24.
    const node = isRecentEnough(process.versions.node, version)
      ? process.execPath
      : await fetchRuntime({ root, npm, version, scratch, working })
    const args = [npm, 'ci', '--include=dev', '--include=optional', ...quietly]
    const { code, output } = await run(node, args, { cwd: root, env: environmentForNpm(), onStart: working })
    if (code !== 0) throw new SetupFailure(explainNpmFailure(output))
    // Where install scripts are switched off, the npm package `node` comes without its program.
    if (versionOf(runtimePath(root)) !== version) {
      const own =
        versionOf(node) === version ? node : await fetchRuntime({ root, npm, version, scratch, working })
      placeRuntime(root, own)
    }
    if (versionOf(runtimePath(root)) !== version) {
      throw new SetupFailure(
        `Node ${version} from npm does not run on this system (${process.platform} ${process.arch}). ` +
          'It is built for glibc 2.28 or newer on Linux, macOS and Windows.',
      )
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
  explainExec(root)
  writeStamp(root)
}

/**
 * The scripts of package.json start with `exec`: npm runs them through a shell and sends its own SIGTERM to that, and
 * a shell that stays in between dies of it and leaves Garner running. The shell of Windows does not know the word.
 *
 * @param {string} root
 */
function explainExec(root) {
  if (process.platform === 'win32') writeFileSync(join(root, 'node_modules', '.bin', 'exec.cmd'), '@%*\r\n')
}

/** @param {string} root */
function reasonToInstall(root) {
  if (!existsSync(join(root, 'node_modules'))) return 'this is the first run here'
  return existsSync(stampPath(root)) ? 'package-lock.json has changed' : 'an earlier install is not complete'
}

/**
 * A Node of the pinned version outside node_modules, since `npm ci` empties that: the one already installed when
 * there is one, else from npm.
 *
 * @param {{ root: string, npm: string, version: string, scratch: string, working: (pid: number) => void }} what
 */
async function fetchRuntime({ root, npm, version, scratch, working }) {
  mkdirSync(scratch, { recursive: true })
  if (versionOf(runtimePath(root)) === version) {
    const copy = join(scratch, binary)
    copyFileSync(runtimePath(root), copy)
    return copy
  }
  const name = runtimePackage()
  writeFileSync(join(scratch, 'package.json'), '{"private":true}')
  const args = [
    npm,
    'install',
    '--no-save',
    '--no-package-lock',
    '--ignore-scripts',
    ...quietly,
    `${name}@${version}`,
  ]
  const { code, output } = await run(process.execPath, args, {
    cwd: scratch,
    env: environmentForNpm(),
    onStart: working,
  })
  if (code !== 0) throw new SetupFailure(explainNpmFailure(output))
  return join(scratch, 'node_modules', name, 'bin', binary)
}

/** The names under which npm has Node's programs; the package `node` picks by the same rule. */
function runtimePackage() {
  const platform = process.platform === 'win32' ? 'win' : process.platform
  const arch = platform === 'win' && process.arch === 'ia32' ? 'x86' : process.arch
  const prefix = platform === 'darwin' && arch === 'arm64' ? 'node-bin' : 'node'
  return `${prefix}-${platform}-${arch}`
}

/** @param {string} root @param {string} node */
function placeRuntime(root, node) {
  const place = runtimePath(root)
  mkdirSync(dirname(place), { recursive: true })
  copyFileSync(node, place)
  const link = join(root, 'node_modules', '.bin', 'node')
  if (process.platform === 'win32' || existsSync(link)) return
  mkdirSync(dirname(link), { recursive: true })
  rmSync(link, { force: true })
  symlinkSync(join('..', 'node', 'bin', 'node'), link)
}

/** @param {string} program @returns {string | undefined} such as "24.21.0"; nothing when it does not run */
function versionOf(program) {
  try {
    const said = execFileSync(program, ['--version'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    return said.trim().replace(/^v/, '')
  } catch {
    return undefined
  }
}

/** @param {string} running @param {string} pinned */
function isRecentEnough(running, pinned) {
  return Number.parseInt(running, 10) >= Number.parseInt(pinned, 10)
}

/**
 * True when node_modules is what the lock file asks for, though no stamp says so: somebody ran `npm install`, which
 * changes the lock file and installs in one go. npm writes its own record of node_modules when it is through, and
 * `npm ci` would only repeat the work.
 *
 * @param {string} root
 */
export function followsLockFile(root) {
  try {
    const wantedPackages = packagesOf(join(root, 'package-lock.json'))
    const present = packagesOf(join(root, 'node_modules', '.package-lock.json'))
    const isMissing = (/** @type {[string, LockedPackage]} */ [path, entry]) => {
      if (!path.startsWith('node_modules/') || (entry.optional && !isForThisMachine(entry))) return false
      const found = present[path]
      if (entry.link) return !found?.link || !existsSync(join(root, path))
      return !found || found.version !== entry.version || found.integrity !== entry.integrity
    }
    return (
      !Object.entries(wantedPackages).some(isMissing) && versionOf(runtimePath(root)) === pinnedVersion(root)
    )
  } catch {
    return false
  }
}

/**
 * Native parts name their system. An optional package that names none is only there for some native part of another
 * system, and npm leaves it out together with that.
 *
 * @param {LockedPackage} entry
 */
function isForThisMachine({ os, cpu, libc }) {
  return (
    (os || cpu) && accepts(os, process.platform) && accepts(cpu, process.arch) && accepts(libc, libcHere())
  )
}

/** npm's rule for such lists: "!win32" excludes, a plain name must match. */
function accepts(/** @type {string[] | undefined} */ list, /** @type {string | undefined} */ here) {
  if (!list || here === undefined) return true
  const named = list.filter((name) => !name.startsWith('!'))
  return !list.includes(`!${here}`) && (named.length === 0 || named.includes(here))
}

function libcHere() {
  if (process.platform !== 'linux') return undefined
  const report = /** @type {{ header: { glibcVersionRuntime?: string } }} */ (process.report.getReport())
  return report.header.glibcVersionRuntime ? 'glibc' : 'musl'
}

/** @param {string} path @returns {Record<string, LockedPackage>} */
function packagesOf(path) {
  return JSON.parse(readFileSync(path, 'utf8')).packages
}

/**
 * @typedef {{
 *   version?: string, integrity?: string, link?: boolean,
 *   optional?: boolean, os?: string[], cpu?: string[], libc?: string[],
 * }} LockedPackage
 */

/** @param {string} root */
function writeStamp(root) {
  const next = `${stampPath(root)}.next`
  writeFileSync(next, wanted(root))
  renameSync(next, stampPath(root))
}
