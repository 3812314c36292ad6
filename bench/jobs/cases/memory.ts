import { type Case, sizesOf } from './case.ts'
import { filled } from './fill.ts'
import { taken } from './window.ts'

/** Rounds of it differ by a few percent only, and each fills a store. */
const ROUNDS_MAX = 3
/** 100,000 queued jobs for the usual 20,000, and fewer where all is kept small to try it out. */
const QUEUED_FOR_EACH = 5

function memoryCase(of: Pick<Case, 'name' | 'about'> & { nodeArgs: string[] }): Case {
  const { nodeArgs, ...rest } = of
  return {
    ...rest,
    roundsMax: ROUNDS_MAX,
    async round(contender, settings) {
      const jobs = Math.min(sizesOf(contender).memory ?? 100_000, settings.jobs * QUEUED_FOR_EACH)
      await filled(contender, jobs)
      const { rate, count, peakBytes } = await taken(contender, { jobs, maxMs: 20_000, nodeArgs })
      return {
        measured: [{ measure: 'peak', unit: 'MiB', value: peakBytes / 2 ** 20 }],
        notes: { jobs, taken: count, started: Math.round(rate) },
      }
    },
  }
}

export const memory = memoryCase({
  name: 'memory',
  about: 'The most memory that a worker process has while it drains 100,000 queued jobs.',
  nodeArgs: [],
})

/**
 * Most of what a busy process has is young garbage that has not been looked at yet. How much of it Node allows grows
 * with Node's version and the machine, and what a library keeps is only seen when it is held down.
 */
export const memoryTight = memoryCase({
  name: 'memory-tight',
  about:
    'The same with `node --max-semi-space-size=2`: what the library keeps, with little uncollected garbage.',
  nodeArgs: ['--max-semi-space-size=2'],
})
