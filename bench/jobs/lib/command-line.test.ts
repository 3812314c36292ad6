import { expect, test } from 'vitest'
import { LIMITS_NAMES, PEER_NAMES } from '../peers/index.ts'
import { GROUPS, parseCommand } from './command-line.ts'

test('a peer alone leaves its configurations and cases to be chosen, with five rounds of 20,000 jobs', () => {
  expect(parseCommand(['plainjob'])).toEqual({
    who: [{ name: 'plainjob', configs: [] }],
    cases: [],
    rounds: 5,
    ms: 2500,
    jobs: 20_000,
    backlog: 1_000_000,
    noiseCores: 0.15,
    quietMs: 8000,
    out: undefined,
  })
})

test('configurations of one peer that are named one by one belong together, so that its cases come once', () => {
  expect(parseCommand(['plainjob:best', 'liteque', 'plainjob:full']).who).toEqual([
    { name: 'plainjob', configs: ['best', 'full'] },
    { name: 'liteque', configs: [] },
  ])
})

test('--config takes the place of what a group says, --noise=off takes the limit away', () => {
  const { who, cases, noiseCores } = parseCommand([
    'redis',
    '--config=default',
    '--case=drain,submit',
    '--noise=off',
  ])
  expect(who).toEqual([{ name: 'bullmq', configs: ['default'] }])
  expect(cases).toEqual(['drain', 'submit'])
  expect(noiseCores).toBe(Number.POSITIVE_INFINITY)
})

test('a number that is none is refused before anything is measured', () => {
  expect(() => parseCommand(['plainjob', '--runs=many'])).toThrow(RangeError)
  expect(() => parseCommand(['plainjob', '--ms='])).toThrow(RangeError)
  expect(() => parseCommand(['plainjob', '--run=3'])).toThrow(TypeError)
})

test('every member of a group is a peer or a limit', () => {
  const members = Object.values(GROUPS).flatMap((group) => group.map((one) => one.split(':')[0]!))
  expect(members.filter((name) => ![...PEER_NAMES, ...LIMITS_NAMES].includes(name))).toEqual([])
})
