import { expect, test } from 'vitest'
import { Events } from './events.ts'

test('each iterator gets what is said while it exists, until the end', async () => {
  const events = new Events<number>()
  events.say(0)
  const first = events[Symbol.asyncIterator]()
  events.say(1)
  const second = events[Symbol.asyncIterator]()
  events.say(2)
  expect([await first.next(), await first.next(), await second.next()]).toEqual([
    { done: false, value: 1 },
    { done: false, value: 2 },
    { done: false, value: 2 },
  ])
  const waiting = second.next()
  events.close()
  expect(await waiting).toEqual({ done: true, value: undefined })
  expect(await first.next()).toEqual({ done: true, value: undefined })
  expect(await events[Symbol.asyncIterator]().next()).toEqual({ done: true, value: undefined })
})

test('a waiting iterator wakes when something is said', async () => {
  const events = new Events<string>()
  const iterator = events[Symbol.asyncIterator]()
  const waiting = iterator.next()
  events.say('now')
  expect(await waiting).toEqual({ done: false, value: 'now' })
})

test('one that does not listen loses the oldest, and the memory does not fill', async () => {
  const events = new Events<number>()
  const iterator = events[Symbol.asyncIterator]()
  for (let n = 0; n < 1_500; n++) events.say(n)
  expect(await iterator.next()).toEqual({ done: false, value: 500 })
})

test('leaving a loop ends its listening', async () => {
  const events = new Events<number>()
  const seen: number[] = []
  const loop = (async () => {
    for await (const value of events) {
      seen.push(value)
      if (value === 2) break
    }
  })()
  for (const value of [1, 2, 3]) events.say(value)
  await loop
  expect(seen).toEqual([1, 2])
})
