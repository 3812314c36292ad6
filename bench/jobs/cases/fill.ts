import { produceWith } from '../lib/spawn.ts'
import { type Contender, perCallOf } from './case.ts'

/** Puts this many jobs into the store, through the library's own batch call. Answers how many a second. */
export async function fill(contender: Contender, jobs: number): Promise<number> {
  const { peer, config } = contender
  const perCall = perCallOf(contender)
  const maxMs = 600_000
  const load = { load: 'batches' as const, jobs, perCall, maxMs, isWarmed: false }
  const produced = await produceWith({ peer: peer.name, config, load })
  if (produced.jobs < jobs)
    throw new Error(`Only ${produced.jobs} of ${jobs} jobs could be put in within ${maxMs} ms.`)
  await peer.settle?.(config)
  return produced.jobs / (produced.ms / 1000)
}

/** A store that holds just these jobs. */
export async function filled(contender: Contender, jobs: number): Promise<number> {
  await contender.peer.reset(contender.config)
  return fill(contender, jobs)
}
