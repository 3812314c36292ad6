import { expect, test } from 'vitest'
import { result } from './results.fixture.ts'
import type { Against, Target } from './targets.ts'
import { verdictOf } from './verdict.ts'

const target = (against: Against, of: Partial<Target> = {}): Target => ({
  ...{ store: 'garner-sqlite', case: 'drain', measure: 'ended', against },
  ...of,
})
const garner = result({ peer: 'garner-sqlite', values: [100, 200, 300] })
const AGAINST_PEERS: Against = { kind: 'peer', atLeast: 20 }

test('the fastest peer of the same database at equal durability is what counts', () => {
  const results = [
    garner,
    result({ peer: 'liteque', values: [5, 10, 15] }),
    result({ peer: 'plainjob', config: 'full', values: [10, 10, 10] }),
    result({ peer: 'plainjob', values: [1000, 1000, 1000], isSynced: false }),
    result({ peer: 'pg-boss', values: [1000, 1000, 1000], backend: 'postgres 15.20' }),
    result({ peer: 'raw-sqlite', values: [1000, 1000, 1000] }),
  ]
  const { yardstick, figure, isMet } = verdictOf(target(AGAINST_PEERS), 'best', results)
  expect([yardstick?.peer, yardstick?.config]).toEqual(['plainjob', 'full'])
  expect(figure).toEqual({ median: 20, low: 10, high: 30 })
  expect(isMet).toBe(true)
})

test('a figure of another session is no yardstick, however much it would help', () => {
  const other = result({ peer: 'liteque', values: [1, 1, 1], session: '2026-01-01T10:00:00.000Z' })
  const { figure, isMet } = verdictOf(target(AGAINST_PEERS), 'best', [garner, other])
  expect([figure, isMet]).toEqual([undefined, undefined])
})

test('the latest session counts, also when an earlier one was better', () => {
  const earlier = '2026-01-01T10:00:00.000Z'
  const results = [
    garner,
    result({ peer: 'raw-sqlite', measure: 'claim 100, complete 100', values: [400, 400, 400] }),
    result({ peer: 'garner-sqlite', values: [900, 900, 900], session: earlier }),
    result({ peer: 'raw-sqlite', values: [900, 900, 900], session: earlier }),
  ]
  const { figure, isMet } = verdictOf(target({ kind: 'raw', atLeast: 0.6 }), 'best', results)
  expect(figure?.median).toBe(0.5)
  expect(isMet).toBe(false)
})

test('of the raw limits the faster one is held against it', () => {
  const results = [
    garner,
    result({ peer: 'raw-sqlite', config: 'full', values: [200, 200, 200] }),
    result({ peer: 'raw-sqlite', config: 'better-sqlite3', values: [400, 400, 400] }),
    result({ peer: 'raw-sqlite', config: 'normal', values: [9000, 9000, 9000], isSynced: false }),
  ]
  expect(verdictOf(target({ kind: 'raw', atLeast: 0.6 }), 'best', results).yardstick?.config).toBe(
    'better-sqlite3',
  )
})

test('a peer that is named may be less durable where the target says so', () => {
  const results = [garner, result({ peer: 'plainjob', values: [150, 150, 150], isSynced: false })]
  const against: Against = { kind: 'peer', peer: 'plainjob', mayBeWeaker: true, atLeast: 1 }
  expect(verdictOf(target(against), 'best', results).isMet).toBe(true)
  expect(verdictOf(target({ ...against, mayBeWeaker: false }), 'best', results).isMet).toBeUndefined()
})

test('latency: the fastest peer is the one with the least, and at most is the target', () => {
  const latency = { case: 'latency', measure: 'p50', unit: 'ms' }
  const results = [
    result({ ...latency, peer: 'garner-sqlite', values: [4, 4, 4] }),
    result({ ...latency, peer: 'plainjob', values: [5, 5, 5] }),
    result({ ...latency, peer: 'liteque', values: [2, 2, 2] }),
  ]
  const { yardstick, isMet } = verdictOf(target({ kind: 'peer', atMost: 1 }, latency), 'best', results)
  expect([yardstick?.peer, isMet]).toEqual(['liteque', false])
})

test('its own figure of another case was not measured in turns: medians, and the widest spread', () => {
  const results = [
    garner,
    result({ peer: 'garner-sqlite', config: 'no-operation-ids', values: [900, 900, 900] }),
    result({ peer: 'garner-sqlite', case: 'drain-write', values: [60, 100, 150] }),
  ]
  const against: Against = { kind: 'self', case: 'drain', measure: 'ended', atLeast: 0.5 }
  const { figure, isMet } = verdictOf(target(against, { case: 'drain-write' }), 'best', results)
  expect(figure).toEqual({ median: 0.5, low: 0.2, high: 1.5 })
  expect(isMet).toBe(true)
})

test('a figure in its own unit needs no yardstick, and one that failed is not measured', () => {
  const memory = { case: 'memory', measure: 'peak', unit: 'MiB' }
  const against: Against = { kind: 'value', atMost: 75, unit: 'MiB' }
  const measured = [result({ ...memory, peer: 'garner-sqlite', values: [74, 76, 74] })]
  expect(verdictOf(target(against, memory), 'best', measured).isMet).toBe(true)
  const failed = [result({ ...memory, peer: 'garner-sqlite', values: [], error: 'it fell over' })]
  expect(verdictOf(target(against, memory), 'best', failed).isMet).toBeUndefined()
})
