import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { realClock, shelf } from './browser.ts'

test('time, chance and ids come from browser.ts and from nowhere else', () => {
  const files = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' })
  const own = files.filter(
    (file) => /\.tsx?$/.test(file) && !/\.test\.ts$/.test(file) && file !== 'browser.ts',
  )
  expect(own.length).toBeGreaterThan(40)
  const taken = own.filter((file) =>
    /Date\.now|new Date\(\)|setTimeout|setInterval|Math\.random|randomUUID|(local|session)Storage\b/.test(
      readFileSync(join(import.meta.dirname, file), 'utf8').replace(/^\s*(\*|\/\/|\/\*\*).*$/gm, ''),
    ),
  )
  expect(taken).toEqual([])
})

test('a browser that refuses to store forgets with the page, and breaks nothing', () => {
  const full = shelf(() => {
    throw new DOMException('full', 'QuotaExceededError')
  })
  full.write('a', '1')
  expect(full.read('a')).toBe('1')
  full.write('a', null)
  expect(full.read('a')).toBeNull()
})

test('an aborted sleep ends at once', async () => {
  const stop = new AbortController()
  stop.abort()
  await realClock.sleep(60_000, stop.signal)
  const later = new AbortController()
  const slept = realClock.sleep(60_000, later.signal)
  later.abort()
  await slept
})
