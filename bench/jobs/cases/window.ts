import { spawnChild } from '../lib/spawn.ts'
import type { Contender } from './case.ts'
import { startRate } from './warm.ts'

/**
 * One worker process takes about `jobs` jobs off a store that holds more, or as many as it can within `maxMs`; the
 * first `warm` are not counted in the rate.
 */
export async function taken(
  { peer, config }: Contender,
  {
    jobs,
    warm = 0,
    maxMs,
    nodeArgs = [],
  }: { jobs: number; warm?: number; maxMs: number; nodeArgs?: string[] },
): Promise<{ rate: number; count: number; peakBytes: number }> {
  const task = { stopAfter: jobs, maxMs }
  const child = spawnChild({ role: 'worker', peer: peer.name, config, task }, nodeArgs)
  const watchdog = setTimeout(() => child.say({ type: 'stop' }), maxMs + 15_000)
  try {
    await child.answer('ready', 60_000)
    child.say({ type: 'go' })
    const worked = await child.answer('worked', maxMs + 60_000)
    // What it still does on the way to its end counts for the memory, too.
    const { peakBytes } = await child.answer('stopped', 20_000)
    return { rate: startRate([worked], warm), count: worked.count, peakBytes }
  } finally {
    clearTimeout(watchdog)
    await child.end(9000)
  }
}
