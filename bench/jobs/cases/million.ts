import { type Case, type Contender, sizesOf } from './case.ts'
import { drained } from './drain.ts'
import { fill, filled } from './fill.ts'
import { warmOf } from './warm.ts'
import { taken } from './window.ts'

/** Whose store holds the backlog at this moment: the case after it goes on with the same store. */
const standing = new Set<string>()
const keyOf = ({ peer, config }: Contender) => `${peer.name}:${config}`

export const waiting: Case = {
  name: 'waiting-1m',
  about:
    '1,000,000 jobs wait; one worker process takes 20,000 of them. By the starts: compare with `started` of the drain.',
  async prepare(contender, { backlog }) {
    const jobs = Math.min(sizesOf(contender).backlog ?? backlog, backlog)
    const fillRate = await filled(contender, jobs)
    standing.add(keyOf(contender))
    return { waiting: jobs, fillRate }
  },
  async round(contender, settings) {
    const jobs = Math.min(sizesOf(contender).window ?? settings.jobs, settings.jobs)
    const warm = warmOf(jobs)
    const { rate, count } = await taken(contender, { jobs: jobs + warm, warm, maxMs: 15_000 })
    return { measured: [{ measure: 'started', unit: 'jobs/s', value: rate }], notes: { taken: count } }
  },
}

export const finished: Case = {
  name: 'finished-1m',
  about: '1,000,000 finished jobs are in the table, with their history; 20,000 more are put in and drained.',
  suits: (peer) => peer.finishAll !== undefined,
  async prepare(contender, { backlog }) {
    const { peer, config } = contender
    const jobs = Math.min(sizesOf(contender).backlog ?? backlog, backlog)
    if (!standing.delete(keyOf(contender))) await filled(contender, jobs)
    await peer.finishAll!(config)
    return { finished: jobs }
  },
  async round(contender, settings) {
    const { drain = settings.jobs, drainMaxMs: maxMs = 60_000 } = sizesOf(contender)
    const counted = Math.min(drain, settings.jobs)
    const warm = warmOf(counted)
    const jobs = counted + warm
    await fill(contender, jobs)
    return drained(contender, { workers: 1, jobs, warm, maxMs })
  },
}
