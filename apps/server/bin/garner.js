#!/usr/bin/env node
/**
 * `npx garner …` in a checkout, whatever Node runs it (18 or newer).
 *
 * A Node that runs TypeScript as it is loads the program into this very process: no parent stays in memory, and a
 * signal or a kill hits Garner itself. An older Node starts the pinned one from node_modules and stands in for it:
 * SIGTERM, SIGINT and SIGHUP are passed on, the exit code or fatal signal is passed back. Cut off by `kill -9`, the
 * stand-in cannot pass that on, and Garner runs on; address it by its own process id there.
 *
 * npx itself runs this through a shell, and passes a SIGTERM only to that shell, which dies of it alone. So under npx,
 * losing the parent reads as SIGTERM.
 */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import module from 'node:module'
import { constants } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const mainUrl = new URL('../src/main.ts', import.meta.url)
const main = fileURLToPath(mainUrl)

/** The version the program is written for; it also needs that Node's SQLite. */
const NODE_MIN_MAJOR = 24

if (process.env.npm_command === 'exec') endWithParent()

if (Number.parseInt(process.versions.node, 10) >= NODE_MIN_MAJOR) {
  process.argv[1] = main
  // Here and not only in main.ts, which would have to be stripped of its types first: loading what does that costs
  // more than all the rest of the program once it is cached.
  module.enableCompileCache?.()
  await import(mainUrl.href)
} else {
  standIn(pinnedNode())
}

function endWithParent() {
  const parent = process.ppid
  // A quarter of a second: small beside the ten seconds that Garner may take to end, and a system call each.
  const watch = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(watch)
    process.kill(process.pid, 'SIGTERM')
  }, 250)
  watch.unref()
}

function pinnedNode() {
  const binary = process.platform === 'win32' ? 'node.exe' : 'node'
  for (let folder = dirname(main); folder !== dirname(folder); folder = dirname(folder)) {
    const path = join(folder, 'node_modules', 'node', 'bin', binary)
    if (existsSync(path)) return path
  }
  console.error(
    `garner: this is Node ${process.versions.node}; Garner runs on Node ${NODE_MIN_MAJOR}, ` +
      'which `npm install` (or the first `npm start`) puts into node_modules.',
  )
  return process.exit(1)
}

/** @param {string} node */
function standIn(node) {
  const child = spawn(node, [main, ...process.argv.slice(2)], { stdio: 'inherit' })
  for (const signal of /** @type {const} */ (['SIGTERM', 'SIGINT', 'SIGHUP'])) {
    process.on(signal, () => {
      // A Ctrl+C at a terminal reaches both processes; a second SIGINT would read as "stop at once".
      if (signal === 'SIGINT' && process.stdin.isTTY) return
      child.kill(signal)
    })
  }
  child.on('error', (error) => {
    console.error(`garner: ${node} could not be started: ${error.message}`)
    process.exit(1)
  })
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code ?? 1)
    process.removeAllListeners(signal)
    process.kill(process.pid, signal)
    // A signal that this process survives all the same: the shell's way of saying it.
    setTimeout(() => process.exit(128 + constants.signals[signal]), 1_000)
  })
}
