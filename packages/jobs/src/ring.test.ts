import { expect, test } from 'vitest'
import { Ring } from './ring.ts'

test('its members are in the order in which they came, whoever has left', () => {
  const ring = new Ring<string>()
  const places = ['a', 'b', 'c', 'd', 'e'].map((member) => ring.add(member))
  for (const n of [2, 0, 4]) places[n]!.leave()
  expect(ring.members()).toEqual(['b', 'd'])
  expect(ring.first?.member).toBe('b')
  ring.add('f')
  expect(ring.members()).toEqual(['b', 'd', 'f'])
  expect(ring.size).toBe(3)
})

test('one leaves once, and its place keeps nothing alive', () => {
  const ring = new Ring<string>()
  const place = ring.add('a')
  expect(place.leave()).toBe('a')
  expect(place.leave()).toBeNull()
  expect(place.member).toBeNull()
  expect(ring.size).toBe(0)
  expect(ring.first).toBeUndefined()
})

test('one that leaves and its neighbours know nothing of each other any more', () => {
  const ring = new Ring<string>()
  const [a, b, c] = ['a', 'b', 'c'].map((member) => ring.add(member))
  b!.leave()
  expect([b!.before, b!.after]).toEqual([b, b])
  expect(a!.after).toBe(c)
  expect(c!.before).toBe(a)
})
