import { expect, test } from 'vitest'
import { generate } from './generate.ts'

test('a seed is one plan, as data', () => {
  expect(generate(42)).toEqual(generate(42))
  expect(generate(42)).not.toEqual(generate(43))
  expect(JSON.parse(JSON.stringify(generate(42)))).toEqual(generate(42))
})

test('commands come in order of time, each with an id of its own, and nothing is asked for once all is to heal', () => {
  for (let seed = 1; seed <= 200; seed++) {
    const { commands, healAtMs } = generate(seed)
    const times = commands.map(({ atMs }) => atMs)
    expect(times).toEqual([...times].sort((a, b) => a - b))
    expect(Math.max(0, ...times)).toBeLessThanOrEqual(healAtMs + 40)
    expect(new Set(commands.map(({ id }) => id)).size).toBe(commands.length)
  }
})

test('nothing goes wrong that the library says it does not see', () => {
  for (let seed = 1; seed <= 500; seed++) {
    const { faults } = generate(seed)
    const jumps = faults.filter((one) => one.do === 'jump')
    expect(jumps.filter(({ machine }) => machine === null).length).toBeLessThanOrEqual(1)
    for (const { machine, byMs } of jumps) {
      if (machine === null || byMs > 0) continue
      const asleep = faults.filter((one) => one.do === 'suspend' && one.machine === machine && one.forMs > 50)
      expect(asleep).toEqual([])
    }
  }
})
