import type { Result } from '../lib/result.ts'

/** A line of a results file; what a test does not say is as it would be on SQLite, synced. */
export function result(of: Partial<Result> & Pick<Result, 'peer' | 'values'>): Result {
  return {
    session: '2026-01-02T10:00:00.000Z',
    machine: 'a machine',
    config: 'best',
    version: '1.0.0',
    backend: 'sqlite 3.54.1',
    durability: 'wal, synchronous=FULL',
    isSynced: true,
    case: 'drain',
    measure: 'ended',
    unit: 'jobs/s',
    foreignCores: 0.05,
    noisyRounds: 0,
    notes: {},
    ...of,
  }
}
