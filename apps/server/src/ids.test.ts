import { expect, test } from 'vitest'
import { createIds } from './ids.ts'

let made = 0
const randomBytes = (n: number) => Uint8Array.from({ length: n }, () => (made = (made * 31 + 17) % 251))
const START_MS = Date.UTC(2026, 0, 1)

test('an id begins with the millisecond it was made in, and has the shape of a UUID of version 7', () => {
  const id = createIds({ nowMs: () => START_MS, randomBytes })()
  expect(id).toMatch(/^[0-9a-f]{12}7[0-9a-f]{19}$/)
  expect(Number.parseInt(id.slice(0, 12), 16)).toBe(START_MS)
})

test('they sort by the time they were made, also within a millisecond and beyond 4096 of one', () => {
  const ids = createIds({ nowMs: () => START_MS, randomBytes })
  const list = Array.from({ length: 10_000 }, ids)
  expect([...list].sort()).toEqual(list)
  expect(new Set(list).size).toBe(10_000)
})

test('they go on upwards when the clock is put back, and follow it when it goes on', () => {
  let nowMs = START_MS
  const ids = createIds({ nowMs: () => nowMs, randomBytes })
  const list = [ids()]
  nowMs -= 60_000
  list.push(ids(), ids())
  nowMs += 120_000
  list.push(ids())
  expect([...list].sort()).toEqual(list)
  expect(Number.parseInt(list.at(-1)!.slice(0, 12), 16)).toBe(nowMs)
})

test('two processes in the same millisecond make different ones', () => {
  const other = (n: number) => new Uint8Array(n).fill(7)
  const a = createIds({ nowMs: () => START_MS, randomBytes: (n) => new Uint8Array(n).fill(9) })
  const b = createIds({ nowMs: () => START_MS, randomBytes: other })
  expect(a()).not.toBe(b())
})
