import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readOrMakeSecret } from './secret.ts'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'garner-secret-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

let made = 0
const randomBytes = (n: number) => new Uint8Array(n).fill(++made)

test('is made at the first start, in a folder that may not be there yet, for its owner’s eyes only', () => {
  const data = join(dir, 'data')
  const secret = readOrMakeSecret(data, randomBytes)
  expect(secret).toMatch(/^[\w-]{43}$/)
  expect(readFileSync(join(data, 'secret'), 'utf8')).toBe(secret)
  expect(statSync(join(data, 'secret')).mode & 0o777).toBe(0o600)
  expect(readdirSync(data)).toEqual(['secret'])
})

test('is the same at every later one', () => {
  expect(readOrMakeSecret(dir, randomBytes)).toBe(readOrMakeSecret(dir, randomBytes))
})

test('of two processes that start together the second takes the first one’s', () => {
  // The other one is done in the middle of ours: after we have looked, before we link ours into place.
  let other = ''
  const secret = readOrMakeSecret(dir, (n) => {
    if (n === 6) other = readOrMakeSecret(dir, randomBytes)
    return randomBytes(n)
  })
  expect(secret).toBe(other)
  expect(readdirSync(dir)).toEqual(['secret'])
})

test('that is too short to be one is refused, not used and not replaced', () => {
  writeFileSync(join(dir, 'secret'), 'short\n')
  expect(() => readOrMakeSecret(dir, randomBytes)).toThrow(/not a secret of Garner/)
  expect(readFileSync(join(dir, 'secret'), 'utf8')).toBe('short\n')
})
