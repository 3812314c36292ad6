import { expect, test } from 'vitest'
import { Gather } from './gather.ts'

/** A gatherer whose batches end when the test says so. */
function gathering({ atOnce = 1, most = 3 } = {}) {
  const batches: { items: number[]; end: () => void }[] = []
  const gather = new Gather<number>({
    take: (waiting) => Math.min(waiting.length, most),
    run: (items) => new Promise((resolve) => batches.push({ items, end: resolve })),
    atOnce,
  })
  return { gather, batches, seen: () => batches.map((one) => one.items) }
}

const turns = async () => {
  for (let n = 0; n < 5; n++) await new Promise(setImmediate)
}

test('what comes within one turn goes together, up to what a batch takes', async () => {
  const { gather, seen } = gathering()
  for (const one of [1, 2]) gather.add(one)
  expect(seen()).toEqual([])
  await turns()
  expect(seen()).toEqual([[1, 2]])
})

test('what comes while a batch is under way waits for its end and then goes together', async () => {
  const { gather, batches, seen } = gathering()
  gather.add(1)
  await turns()
  for (const one of [2, 3, 4, 5]) {
    gather.add(one)
    await turns()
  }
  expect(seen()).toEqual([[1]])
  batches[0]!.end()
  await turns()
  expect(seen()).toEqual([[1], [2, 3, 4]])
  batches[1]!.end()
  await turns()
  expect(seen()).toEqual([[1], [2, 3, 4], [5]])
})

test('as many batches as allowed run beside each other', async () => {
  const { gather, batches, seen } = gathering({ atOnce: 2, most: 1 })
  for (const one of [1, 2, 3]) gather.add(one)
  await turns()
  expect(seen()).toEqual([[1], [2]])
  batches[1]!.end()
  await turns()
  expect(seen()).toEqual([[1], [2], [3]])
})

test('a batch that takes nothing yet is asked again when another has ended', async () => {
  const ends: (() => void)[] = []
  const seen: number[][] = []
  const gather = new Gather<number>({
    take: (waiting, running) => (running === 0 ? 1 : waiting.length > 2 ? waiting.length : 0),
    run: (items) => {
      seen.push(items)
      return new Promise((resolve) => ends.push(resolve))
    },
    atOnce: 2,
  })
  for (const one of [1, 2]) gather.add(one)
  await turns()
  expect(seen).toEqual([[1]])
  ends[0]!()
  await turns()
  expect(seen).toEqual([[1], [2]])
})
