import { expect, test } from 'vitest'
import { generate } from './generate.ts'

test('a seed is one plan, as data', () => {
  expect(generate(42)).toEqual(generate(42))
  expect(generate(42)).not.toEqual(generate(43))
  expect(JSON.parse(JSON.stringify(generate(42)))).toEqual(generate(42))
})

test('commands come in order of time, and nothing is asked for or goes wrong once all is to heal', () => {
  for (let seed = 1; seed <= 200; seed++) {
    const { commands, faults, healAtMs } = generate(seed)
    const times = commands.map(({ atMs }) => atMs)
    expect(times).toEqual([...times].sort((a, b) => a - b))
    const ofFaults = faults.flatMap((one) => ('atMs' in one ? [one.atMs] : []))
    expect(Math.max(0, ...times, ...ofFaults)).toBeLessThanOrEqual(healAtMs)
  }
})
