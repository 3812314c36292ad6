/**
 * One set-up at a time in one checkout.
 *
 * Promises: two commands started together never write node_modules or the built client at the same time; the second
 * one waits, then finds the work done. Assumes: one machine, or machines that share the folder and have clocks within
 * a few seconds.
 *
 * Cut at a seam: the file stays behind. The next command sees that its process is gone (or, when the number was given
 * to another process since, that nobody has touched the file for STALE_MS) and takes it over. An npm that outlived
 * its killed set-up is still writing then: its number is in the file, and the successor waits for it to end.
 */
import { execFileSync } from 'node:child_process'
import {
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { SetupFailure } from './failure.mjs'

/** How often a holder shows that it lives. */
const BEAT_MS = 1_000
/** Fifteen beats. At 2 or 3 a machine that swaps during the install would lose its lock to a second install. */
const STALE_MS = 15_000
const POLL_MS = 100
/** A slow line needs minutes; beyond this somebody should look. */
const ORPHAN_MAX_MS = 10 * 60_000

/** @typedef {{ pid: number, child?: number }} Holder */

/**
 * Takes the lock, waiting as long as its holder lives.
 *
 * @param {string} path the lock file; its folder is made when missing
 * @param {(sentence: string) => void} say
 * @returns {Promise<{ working: (childPid: number) => void, release: () => void }>}
 */
export async function takeLock(path, say) {
  mkdirSync(dirname(path), { recursive: true })
  let told = false
  for (;;) {
    if (create(path)) return hold(path)
    const holder = readHolder(path)
    if (isStale(path, holder)) {
      await orphanEnds(holder, say)
      clear(path)
      continue
    }
    if (!told)
      say(`Another Garner command is setting up this folder (process ${holder?.pid ?? '?'}); waiting for it.`)
    told = true
    await sleep(POLL_MS)
  }
}

/** @param {string} path */
function hold(path) {
  const beat = setInterval(() => {
    const now = new Date()
    try {
      utimesSync(path, now, now)
    } catch {
      // Somebody removed the file by hand. The work goes on; at worst a second install repeats it.
    }
  }, BEAT_MS)
  beat.unref()
  return {
    /** @param {number} childPid */
    working: (childPid) => writeFileSync(path, JSON.stringify({ pid: process.pid, child: childPid })),
    release: () => {
      clearInterval(beat)
      rmSync(path, { force: true })
    },
  }
}

/** @param {string} path */
function create(path) {
  try {
    const file = openSync(path, 'wx')
    writeFileSync(file, JSON.stringify({ pid: process.pid }))
    closeSync(file)
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  }
}

/**
 * Removes a stale lock. Two waiters may both have found it stale: were each to remove "the" file, the second would
 * remove the first one's new lock. So the removal has a lock of its own, held for a few file operations, and looks
 * again inside it.
 *
 * @param {string} path
 */
export function clear(path) {
  const guard = `${path}.clearing`
  if (!create(guard)) {
    if (isStale(guard, readHolder(guard))) rmSync(guard, { force: true })
    return
  }
  try {
    if (isStale(path, readHolder(path))) rmSync(path, { force: true })
  } finally {
    rmSync(guard, { force: true })
  }
}

/** @param {string} path @returns {Holder | undefined} nothing when the file is gone or still being written */
function readHolder(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return undefined
  }
}

/** @param {string} path @param {Holder | undefined} holder */
function isStale(path, holder) {
  if (holder && !isAlive(holder.pid)) return true
  try {
    return Date.now() - statSync(path).mtimeMs > STALE_MS
  } catch {
    return false
  }
}

/** @param {Holder | undefined} holder @param {(sentence: string) => void} say */
async function orphanEnds(holder, say) {
  const child = holder?.child
  if (child === undefined || !isOurProgram(child)) return
  say(`An earlier set-up was cut off and its npm (process ${child}) is still writing; waiting for it to end.`)
  const waitUntil = Date.now() + ORPHAN_MAX_MS
  while (isOurProgram(child)) {
    if (Date.now() > waitUntil) {
      throw new SetupFailure(
        `Process ${child}, left by a set-up that was cut off, does not end. Stop it and try again.`,
      )
    }
    await sleep(POLL_MS)
  }
}

/** A number alone could be anybody's by now; what it runs tells. @param {number} pid */
function isOurProgram(pid) {
  if (!isAlive(pid)) return false
  try {
    const command = execFileSync('ps', ['-o', 'stat=,args=', '-p', String(pid)], { encoding: 'utf8' })
    return !command.startsWith('Z') && /npm|vite/.test(command)
  } catch {
    // No `ps` on this machine, or the process has just ended. Linux tells without it.
  }
  try {
    return /npm|vite/.test(readFileSync(`/proc/${pid}/cmdline`, 'utf8'))
  } catch {
    return false
  }
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return codeOf(error) === 'EPERM'
  }
}

/** @param {unknown} error */
function codeOf(error) {
  return error instanceof Error && 'code' in error ? error.code : undefined
}
