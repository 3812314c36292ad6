import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { ManualClock } from '@garner/db'
import { expect, onTestFinished, test } from 'vitest'
import { createFolder } from './objects.ts'

function folder() {
  const dir = mkdtempSync(join(tmpdir(), 'garner-objects-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const clock = new ManualClock()
  let made = 0
  return { dir, clock, objects: createFolder({ dir, clock, ids: () => `temporary-${++made}` }) }
}
const bytes = (word: string) => new Uint8Array(Buffer.from(word))

async function listed(objects: ReturnType<typeof folder>['objects']) {
  const found = []
  for await (const one of objects.list()) found.push(one)
  return found.sort((a, b) => (a.key < b.key ? -1 : 1))
}

test('what is put is there, whole, under its key, for its owner alone to read on disk', async () => {
  const { dir, clock, objects } = folder()
  await objects.put('alice/one', bytes('first'))
  clock.advance(5_000)
  await objects.put('bob/two', bytes('second'))
  expect(Buffer.from((await objects.get('alice/one'))!).toString()).toBe('first')
  const opened = (await objects.open('bob/two'))!
  expect([opened.bytes, await text(opened.stream)]).toEqual([6, 'second'])
  expect(await listed(objects)).toEqual([
    { key: 'alice/one', owner: 'alice', putAtMs: clock.nowMs() - 5_000 },
    { key: 'bob/two', owner: 'bob', putAtMs: clock.nowMs() },
  ])
  expect(statSync(join(dir, 'alice', 'one')).mode & 0o077).toBe(0)
  expect(readdirSync(join(dir, '.incoming'))).toEqual([])
})

test('what is not there is undefined, and gone already', async () => {
  const { objects } = folder()
  expect(await objects.get('alice/one')).toBeUndefined()
  expect(await objects.open('alice/one')).toBeUndefined()
  await objects.remove('alice/one')
  await objects.removeAll('alice')
  expect(await listed(objects)).toEqual([])
})

test('one is removed, and all of an owner', async () => {
  const { objects } = folder()
  for (const key of ['alice/one', 'alice/two', 'bob/one']) await objects.put(key, bytes(key))
  await objects.remove('alice/one')
  expect((await listed(objects)).map(({ key }) => key)).toEqual(['alice/two', 'bob/one'])
  await objects.removeAll('alice')
  expect((await listed(objects)).map(({ key }) => key)).toEqual(['bob/one'])
})

test.each([
  'one',
  'alice/one/two',
  '../alice/one',
  'alice/..',
  './one',
  '.incoming/one',
  'alice/',
  'a b/c',
  'alice/o\0ne',
])('%j is no key: it leads nowhere', async (key) => {
  const { objects } = folder()
  await expect(objects.put(key, bytes('x'))).rejects.toThrow(RangeError)
  await expect(objects.get(key)).rejects.toThrow(RangeError)
  await expect(objects.remove(key)).rejects.toThrow(RangeError)
})

test('a put that fails keeps nothing', async () => {
  const { dir, objects } = folder()
  mkdirSync(join(dir, 'alice', 'one'), { recursive: true })
  await expect(objects.put('alice/one', bytes('x'))).rejects.toThrow()
  expect(readdirSync(join(dir, '.incoming'))).toEqual([])
})

test('what interrupted puts have left is swept after an hour, and what is under way is not', async () => {
  const { dir, clock, objects } = folder()
  await objects.put('alice/one', bytes('x'))
  writeFileSync(join(dir, '.incoming', 'left'), 'half')
  clock.advance(statSync(join(dir, '.incoming', 'left')).mtimeMs - clock.nowMs() + 3_000_000)
  await objects.sweepIncoming()
  expect(readdirSync(join(dir, '.incoming'))).toEqual(['left'])
  clock.advance(700_000)
  await objects.sweepIncoming()
  expect(readdirSync(join(dir, '.incoming'))).toEqual([])
})
