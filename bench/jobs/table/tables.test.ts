import { expect, test } from 'vitest'
import { parseResults, resultLine } from '../lib/result.ts'
import { result } from './results.fixture.ts'
import { caseTable, targetsTable } from './tables.ts'

const garner = result({ peer: 'garner-sqlite', values: [29_000, 30_000, 31_000] })
const raw = result({
  peer: 'raw-sqlite',
  measure: 'claim 100, complete 100',
  values: [100_000, 90_000, 110_000],
})

test('each target has a row, whether it was met, missed or not measured', () => {
  const plainjob = result({ peer: 'plainjob', config: 'full', values: [2000, 2000, 2000] })
  const rows = targetsTable([garner, raw, plainjob], 'garner-sqlite').split('\n')
  expect(rows).toContain(
    '| drain, ended | best | 30,000 jobs/s (29,000 to 31,000) | raw-sqlite, claim 100, complete 100: 100,000 jobs/s | ≥ 0.3 × | 0.29 × (0.28 to 0.33) | **missed** |',
  )
  expect(rows).toContain(
    '| drain, ended | best | 30,000 jobs/s (29,000 to 31,000) | plainjob:full: 2,000 jobs/s | ≥ 20 × | 15.0 × (14.5 to 15.5) | **missed** |',
  )
  expect(rows).toContain('| memory, peak | best |  |  | ≤ 75 MiB |  | not measured |')
})

test('targets are for the best settings, with and without operation ids, and not for the defaults', () => {
  const results = ['best', 'no-operation-ids', 'default'].map((config) => ({ ...garner, config }))
  const table = targetsTable([...results, raw], 'garner-sqlite')
  expect(table).toContain('| drain, ended | no-operation-ids |')
  expect(table).not.toContain('| default |')
})

test('a case shows who was measured, at which durability, how quietly, and who failed', () => {
  const noisy = result({
    peer: 'plainjob',
    isSynced: false,
    values: [1, 2, 3],
    noisyRounds: 2,
    foreignCores: 0.4,
  })
  const failed = result({ peer: 'liteque', values: [], error: 'no such table | tasks' })
  expect(caseTable([noisy, failed, raw], 'drain').split('\n').slice(2)).toEqual([
    '| plainjob:best | 1.0.0 | sqlite 3.54.1 | wal, synchronous=FULL (not synced) | ended | 2.00 jobs/s (1.00 to 3.00) | 3 | 0.40 cores, 2 rounds too noisy |',
    '| liteque:best | 1.0.0 | sqlite 3.54.1 | wal, synchronous=FULL | ended | failed: no such table \\| tasks | 0 | 0.05 cores |',
    '| raw-sqlite:best | 1.0.0 | sqlite 3.54.1 | wal, synchronous=FULL | claim 100, complete 100 | 100,000 jobs/s (90,000 to 110,000) | 3 | 0.05 cores |',
  ])
})

test('a contender that was measured twice shows its later session', () => {
  const later = result({ peer: 'garner-sqlite', values: [5], session: '2026-01-03T00:00:00.000Z' })
  for (const results of [
    [garner, later],
    [later, garner],
  ]) {
    expect(caseTable(results, 'drain')).toContain('5.00 jobs/s (5.00 to 5.00)')
  }
})

test('a line of results can be read back, with six digits of its values', () => {
  const line = resultLine({ ...garner, values: [12_345.678_9], foreignCores: 0.123_45 })
  expect(parseResults(`${line}\n\n${line}`)).toEqual(
    Array(2).fill({ ...garner, values: [12_345.7], foreignCores: 0.123 }),
  )
})
