import { describe, expect, test } from 'vitest'
import { CHECKERS } from '../checks/index.ts'
import { JOBS } from '../jobs.ts'
import { MUTANTS } from './index.ts'
import { search } from './search.ts'
import { committedTable } from './table.ts'

const table = committedTable(JOBS)

describe('a guard that is taken out is found within the seeds that the README states:', () => {
  for (const mutant of MUTANTS) {
    test(mutant.name, { timeout: 120_000 }, async () => {
      const within = table.get(mutant.name)
      expect(within, 'its row in packages/sim/README.md (npm run sim -- --mutants)').toBeGreaterThan(0)
      expect(await search(JOBS, mutant, within!)).not.toBeNull()
    })
  }
})

test('the table has no other rows', () => {
  expect([...table.keys()]).toEqual(MUTANTS.map(({ name }) => name))
})

test('every checker has a mutant that it finds', () => {
  const found = new Set(MUTANTS.flatMap(({ promises }) => promises))
  const promises = [...CHECKERS.map(({ name }) => name), 'J2 a hint is only a hint', 'liveness']
  expect(promises.filter((one) => !found.has(one))).toEqual([])
})
