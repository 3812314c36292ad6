import { describe, expect, test } from 'vitest'
import { search } from '../../mutants/search.ts'
import { committedTable } from '../../mutants/table.ts'
import { CACHE } from '../cache.ts'
import { CHECKERS } from '../checks/index.ts'
import { HEALING_PROMISES } from '../healing.ts'
import { MUTANTS } from './index.ts'

const table = committedTable(CACHE)

describe('a guard that is taken out is found within the seeds that the README states:', () => {
  for (const mutant of MUTANTS) {
    test(mutant.name, { timeout: 120_000 }, async () => {
      const within = table.get(mutant.name)
      expect(within, 'its row in packages/sim/README.md (npm run sim -- --cache --mutants)').toBeGreaterThan(
        0,
      )
      expect(await search(CACHE, mutant, within!)).not.toBeNull()
    })
  }
})

test('the table has no other rows', () => {
  expect([...table.keys()]).toEqual(MUTANTS.map(({ name }) => name))
})

test('every checker has a mutant that it finds', () => {
  const found = new Set(MUTANTS.flatMap(({ promises }) => promises))
  const promises = [...CHECKERS.map(({ name }) => name), ...HEALING_PROMISES]
  expect(promises.filter((one) => !found.has(one))).toEqual([])
})
