/**
 * `npm run dev`: Garner in demo mode (fixture site, canned answers, no keys, data under data/dev), started again at
 * each change of its sources, and the browser client from Vite with live reload, which passes /api on to it.
 * One Ctrl+C ends both; when one ends by itself, so does the other.
 *
 * What follows the command goes to Garner: `npm run dev -- --data DIR`.
 */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const web = join(root, 'apps', 'web')
const vite = join(root, 'node_modules', 'vite', 'bin', 'vite.js')
const main = join(root, 'apps', 'server', 'src', 'main.ts')
const given = process.argv.slice(2)
const data = given.includes('--data') ? [] : ['--data', join('data', 'dev')]

const port = process.env.PORT ?? '8080'

const children = [
  start(root, {}, [
    '--watch',
    '--watch-preserve-output',
    main,
    'all',
    '--demo',
    '--port',
    port,
    ...data,
    ...given,
  ]),
  // Garner refuses settings that it does not know, so the proxy's target is for Vite alone.
  start(web, { GARNER_API: `http://127.0.0.1:${port}` }, [vite, '--host', '127.0.0.1']),
]
/** A program that ignores the polite signal is cut off; Garner itself needs at most 10 s to finish its work. */
const GRACE_MS = 12_000
let isStopping = false

for (const child of children) {
  child.on('exit', (code) => {
    if (!isStopping) process.exitCode = code ?? 1
    stop()
  })
}
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) process.on(signal, stop)

/** @param {string} cwd @param {Record<string, string>} more @param {string[]} args */
function start(cwd, more, args) {
  return spawn(process.execPath, args, {
    cwd,
    env: { ...process.env, ...more },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
}

function stop() {
  if (isStopping) return
  isStopping = true
  for (const child of children) child.kill('SIGTERM')
  setTimeout(() => {
    for (const child of children) child.kill('SIGKILL')
  }, GRACE_MS).unref()
}
