/**
 * The set-up in front of every command, driven as a process against a small checkout with a stand-in for npm, so that
 * no test needs a network. What the real npm does is shown by every fresh clone.
 */
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { explainFileFailure } from './setup/failure.mjs'
import { clear } from './setup/lock.mjs'

const setup = fileURLToPath(new URL('setup.mjs', import.meta.url))
let root = ''
/** @type {import('node:child_process').ChildProcess[]} */
let children = []

/** Installs what a clone's `npm ci` would, in small: a node, a vite, npm's own record. */
const fakeNpm = `
const fs = require('node:fs'), path = require('node:path')
fs.appendFileSync('../npm-calls', process.argv.slice(2, 3) + '\\n')
if (process.env.FAKE_NPM_SAYS) { console.error(process.env.FAKE_NPM_SAYS); process.exit(1) }
const gate = '../hold-npm'
const wait = () => fs.existsSync(gate) ? setTimeout(wait, 20) : go()
fs.rmSync('node_modules', { recursive: true, force: true })
fs.mkdirSync('node_modules/half', { recursive: true })
wait()
function go() {
  const version = JSON.parse(fs.readFileSync('package.json', 'utf8')).dependencies.node
  fs.mkdirSync('node_modules/node/bin', { recursive: true })
  fs.writeFileSync('node_modules/node/bin/node',
    '#!/bin/sh\\nif [ "$1" = --version ]; then echo v' + version + '; else exec ' + process.execPath + ' "$@"; fi\\n',
    { mode: 0o755 })
  fs.mkdirSync('node_modules/vite/bin', { recursive: true })
  fs.copyFileSync('../fake-vite.cjs', 'node_modules/vite/bin/vite.js')
  fs.writeFileSync('node_modules/vite/package.json', '{}')
  fs.copyFileSync('package-lock.json', 'node_modules/.package-lock.json')
}
`
const fakeVite = `
const fs = require('node:fs')
fs.appendFileSync('../../../vite-calls', 'build\\n')
if (fs.readFileSync('index.html', 'utf8').includes('broken')) { console.error('cannot parse'); process.exit(1) }
const out = process.argv[process.argv.indexOf('--outDir') + 1]
fs.rmSync(out, { recursive: true, force: true })
fs.mkdirSync(out)
const gate = '../../../hold-vite'
const wait = () => fs.existsSync(gate) ? setTimeout(wait, 20) : fs.copyFileSync('index.html', out + '/index.html')
wait()
`

beforeEach(() => {
  const folder = mkdtempSync(join(tmpdir(), 'garner-setup-'))
  root = join(folder, 'checkout')
  write('../fake-npm/bin/npm-cli.js', fakeNpm)
  write('../fake-npm/package.json', '{"version":"10.2.0"}')
  write('../fake-vite.cjs', fakeVite)
  write('package.json', JSON.stringify({ dependencies: { node: '24.0.0' } }))
  write(
    'package-lock.json',
    JSON.stringify({ packages: { '': {}, 'node_modules/node': { version: '24.0.0' } } }),
  )
  write('tsconfig.base.json', '{}')
  write('apps/web/index.html', 'one')
})

afterEach(() => {
  for (const child of children) child.kill('SIGKILL')
  children = []
  rmSync(join(root, '..'), { recursive: true, force: true })
})

test('the first run installs and builds, and the next has nothing to do or say', async () => {
  const first = await ends(start('start'))
  expect(first).toMatchObject({ code: 0, stderr: '' })
  expect(first.stdout.split('\n')).toEqual([
    expect.stringMatching(/^Garner: Installing packages and Node 24\.0\.0 .* first run here/),
    expect.stringMatching(/^Garner: Building the browser client/),
    '',
  ])
  expect(read('apps/web/dist/index.html')).toBe('one')
  expect(await ends(start('start'))).toEqual({ code: 0, stdout: '', stderr: '' })
  expect(calls()).toEqual({ npm: 1, vite: 1 })
  expect(existsSync(join(root, '.setup', 'lock'))).toBe(false)
})

test('the tests, the checks and development do not wait for a built client', async () => {
  for (const purpose of ['test', 'check', 'dev']) expect((await ends(start(purpose))).code).toBe(0)
  expect(calls()).toEqual({ npm: 1, vite: 0 })
})

test('a changed lock file is installed; a changed source is built; a touched one is not', async () => {
  await ends(start('start'))
  write(
    'package-lock.json',
    JSON.stringify({ packages: { '': {}, 'node_modules/node': { version: '24.0.1' } } }),
  )
  write('package.json', JSON.stringify({ dependencies: { node: '24.0.1' } }))
  expect((await ends(start('test'))).stdout).toMatch(/Node 24\.0\.1 .* package-lock\.json has changed/)
  write('apps/web/index.html', 'two')
  await ends(start('start'))
  expect(read('apps/web/dist/index.html')).toBe('two')
  expect(calls()).toEqual({ npm: 2, vite: 2 })

  utimesSync(join(root, 'apps/web/index.html'), 1, 1)
  await ends(start('start'))
  expect(calls()).toEqual({ npm: 2, vite: 2 })
})

test('what `npm install` has just installed by hand is not installed again', async () => {
  await ends(start('test'))
  const packages = {
    '': {},
    'node_modules/node': { version: '24.0.0' },
    'node_modules/more': { version: '1.0.0' },
  }
  write('package-lock.json', JSON.stringify({ packages }))
  write('node_modules/.package-lock.json', JSON.stringify({ packages }))
  expect(await ends(start('test'))).toEqual({ code: 0, stdout: '', stderr: '' })
  expect(calls().npm).toBe(1)
})

test('a native part that an older Node left out is installed again, one for another system is not missed', async () => {
  const node = { version: '24.0.0' }
  const other = { version: '1.0.0', optional: true, os: ['plan9'] }
  const forOther = { version: '1.0.0', optional: true }
  const packages = {
    '': {},
    'node_modules/node': node,
    'node_modules/other': other,
    'node_modules/for-other': forOther,
  }
  const part = { version: '1.0.0', optional: true, os: [process.platform], cpu: [process.arch] }
  await ends(start('test'))
  write('package-lock.json', JSON.stringify({ packages }))
  await ends(start('test'))
  expect(calls().npm).toBe(1)
  write('package-lock.json', JSON.stringify({ packages: { ...packages, 'node_modules/part': part } }))
  await ends(start('test'))
  expect(calls().npm).toBe(2)
})

test('killed during the install: the next run waits for the npm left behind, and sees whether it got through', async () => {
  write('../hold-npm', '')
  const killed = start('test')
  await vi.waitUntil(() => existsSync(join(root, 'node_modules/half')) && holder().child, { timeout: 5_000 })
  killed.kill('SIGKILL')
  await ends(killed)

  const next = start('test')
  await vi.waitUntil(() => output(next).includes('its npm (process'), { timeout: 5_000 })
  expect(calls().npm).toBe(1)
  rmSync(join(root, '../hold-npm'))
  expect((await ends(next)).code).toBe(0)
  expect(calls().npm).toBe(1)
})

test('killed half way with a half node_modules and no npm left: installed again', async () => {
  write('node_modules/half/file', '')
  write('.setup/lock', JSON.stringify({ pid: await deadPid() }))
  const result = await ends(start('test'))
  expect(result.stdout).toMatch(/an earlier install is not complete/)
  expect(result.code).toBe(0)
  expect(existsSync(join(root, 'node_modules/half/file'))).toBe(false)
  expect(calls().npm).toBe(1)
})

test('killed during the build: the old client stays, and the next run builds the new one', async () => {
  await ends(start('start'))
  write('apps/web/index.html', 'two')
  write('../hold-vite', '')
  const killed = start('start')
  await vi.waitUntil(() => calls().vite === 2 && holder().child, { timeout: 5_000 })
  process.kill(holder().child, 'SIGKILL')
  killed.kill('SIGKILL')
  await ends(killed)
  expect(read('apps/web/dist/index.html')).toBe('one')

  rmSync(join(root, '../hold-vite'))
  await ends(start('start'))
  expect(read('apps/web/dist/index.html')).toBe('two')
})

test('two at once: one installs, the other waits and finds it done', async () => {
  write('../hold-npm', '')
  const first = start('start')
  await vi.waitUntil(() => existsSync(join(root, 'node_modules/half')), { timeout: 5_000 })
  const second = start('start')
  await vi.waitUntil(() => output(second).includes('Another Garner command'), { timeout: 5_000 })
  rmSync(join(root, '../hold-npm'))
  const results = await Promise.all([ends(first), ends(second)])
  expect(results.map(({ code }) => code)).toEqual([0, 0])
  expect(calls()).toEqual({ npm: 1, vite: 1 })
})

test('many at once over the lock of a dead one: still one install', async () => {
  write('.setup/lock', JSON.stringify({ pid: await deadPid() }))
  const results = await Promise.all(Array.from({ length: 6 }, () => ends(start('test'))))
  expect(results.map(({ code }) => code)).toEqual([0, 0, 0, 0, 0, 0])
  expect(calls().npm).toBe(1)
})

test('a waiter that was overtaken does not remove the lock of its overtaker', () => {
  const lock = join(root, '.setup/lock')
  write('.setup/lock', JSON.stringify({ pid: process.pid }))
  clear(lock)
  expect(existsSync(lock)).toBe(true)
})

test('a Ctrl+C ends npm too and leaves no lock', async () => {
  write('../hold-npm', '')
  const cut = start('test')
  await vi.waitUntil(() => existsSync(join(root, 'node_modules/half')) && holder().child, { timeout: 5_000 })
  const npm = holder().child
  cut.kill('SIGINT')
  expect((await ends(cut)).code).toBe(1)
  await vi.waitUntil(() => !isAlive(npm), { timeout: 5_000 })
  expect(existsSync(join(root, '.setup/lock'))).toBe(false)
})

test.each([
  ['npm error code ENOTFOUND\nnpm error network request failed', /registry could not be reached/],
  ['npm error code EACCES\nnpm error syscall mkdir', /no permission to write/],
  ['npm error nospc ENOSPC: no space left on device', /disk is full/],
  ['npm error code EUSAGE', /do not agree/],
  ['npm error something new', /npm gave up\. Its last words:\n {2}npm error something new/],
])('when npm says %j the person gets one clear sentence', async (says, sentence) => {
  const result = await ends(start('test', { FAKE_NPM_SAYS: says }))
  expect(result.code).toBe(1)
  expect(result.stderr).toMatch(/^Garner: the set-up stopped\. /)
  expect(result.stderr).toMatch(sentence)
  expect(result.stderr).not.toMatch(/\n {4}at /)
})

test('an npm from before workspaces is named with the version that is needed', async () => {
  write('../fake-npm/package.json', '{"version":"6.14.0"}')
  expect((await ends(start('test'))).stderr).toMatch(/npm 6\.14\.0 is too old; Garner needs npm 8 or newer/)
})

test('a client that does not build stops the start, says what Vite said, and leaves the old client', async () => {
  await ends(start('start'))
  write('apps/web/index.html', 'broken')
  const result = await ends(start('start'))
  expect(result.code).toBe(1)
  expect(result.stderr).toMatch(/does not build\. Vite says:\ncannot parse/)
  expect(read('apps/web/dist/index.html')).toBe('one')
})

test.each(['EACCES', 'EROFS', 'ENOSPC'])(
  'a folder that refuses with %s gets a sentence, a defect keeps its stack',
  (code) => {
    const refused = Object.assign(new Error(code), { code })
    expect(explainFileFailure(refused, '/garner')).toMatchObject({
      name: 'SetupFailure',
      message: expect.stringMatching(/^Cannot write in \/garner\. /),
      cause: refused,
    })
    const defect = new TypeError('x is not a function')
    expect(explainFileFailure(defect, '/garner')).toBe(defect)
  },
)

/** @param {string} path @param {string} text */
function write(path, text) {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
}

/** @param {string} path */
const read = (path) => readFileSync(join(root, path), 'utf8')

/** @param {string} purpose @param {Record<string, string>} [env] */
function start(purpose, env = {}) {
  const child = spawn(process.execPath, [setup, purpose, root], {
    env: { ...process.env, ...env, npm_execpath: join(root, '../fake-npm/bin/npm-cli.js') },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  children.push(child)
  const said = { stdout: '', stderr: '' }
  child.stdout.on('data', (chunk) => {
    said.stdout += chunk
  })
  child.stderr.on('data', (chunk) => {
    said.stderr += chunk
  })
  const ended = new Promise((resolve) => child.on('close', (code) => resolve({ code, ...said })))
  return Object.assign(child, { said, ended })
}

/** @param {ReturnType<typeof start>} child @returns {Promise<{ code: number | null, stdout: string, stderr: string }>} */
const ends = (child) => child.ended

/** @param {ReturnType<typeof start>} child */
const output = (child) => child.said.stdout

function calls() {
  const lines = (/** @type {string} */ name) => {
    const path = join(root, '..', name)
    return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n').length : 0
  }
  return { npm: lines('npm-calls'), vite: lines('vite-calls') }
}

function holder() {
  try {
    return JSON.parse(read('.setup/lock'))
  } catch {
    return {}
  }
}

async function deadPid() {
  const child = spawn(process.execPath, ['-e', ''])
  await new Promise((resolve) => child.on('close', resolve))
  return child.pid
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
