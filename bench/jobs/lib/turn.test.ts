import { expect, test } from 'vitest'
import { Rounds } from './turn.ts'

const round = (value: number) => ({
  measured: [
    { measure: 'p50', unit: 'ms', value },
    { measure: 'p99', unit: 'ms', value: value * 2 },
  ],
  notes: { jobs: 500 },
})

test('rounds keep each measure in order, and count those that were noisy', () => {
  const rounds = new Rounds()
  rounds.add(round(3), { cores: 0.1, isNoisy: false })
  rounds.add(round(1), { cores: 0.9, isNoisy: true })
  rounds.add(round(2), { cores: 0.2, isNoisy: false })
  expect([...rounds.measures]).toEqual([
    ['p50', { unit: 'ms', values: [3, 1, 2] }],
    ['p99', { unit: 'ms', values: [6, 2, 4] }],
  ])
  expect(rounds).toMatchObject({ foreignCores: 0.2, noisyRounds: 1, notes: { jobs: 500 } })
})
