import { describe, expect, test } from 'vitest'
import { Readership } from './readership.ts'

const SECONDS = 1_000

describe('readers and writers on instances to which everything happens', () => {
  test.each(Array.from({ length: 12 }, (_, n) => n + 1))(
    'seed %i: every answer is as new as its reader may expect and as old as it says, in time; all is counted',
    async (seed) => {
      const readership = new Readership(seed, { hasShared: seed % 4 !== 0 })
      await readership.run(15 * SECONDS)
      expect(readership.wrongs.slice(0, 5)).toEqual([])
      // And there are answers, own saves included: that nothing is wrong by saying nothing.
      const { answered, refused, own, ownAnswered } = readership.ends
      expect(answered).toBeGreaterThan(refused / 2)
      expect(ownAnswered).toBeGreaterThan(own / 5)
    },
  )
})
