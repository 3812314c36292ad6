import type { Clock } from '@garner/db'
import { type Job, PENDING_STATES } from './job.ts'
import type { JobStore } from './store.ts'

/** How a watch waits. */
export interface WatchOptions {
  clock: Clock
  /** Time between two looks. Milliseconds. */
  pollMs: number
  signal?: AbortSignal
}

/**
 * A job each time it has changed: its state, try, generation or progress. The first is the job as it is, the last
 * its end; ends also when the job is gone or `signal` aborts. It is the row that is looked at, whoever works on the job;
 * changes between two looks are seen as one. What this process itself works on, `Worker.events` tells at once.
 * Errors: StoreUnavailable.
 */
export async function* watch<Tx>(
  store: Pick<JobStore<Tx>, 'get'>,
  id: string,
  { clock, pollMs, signal }: WatchOptions,
): AsyncGenerator<Job> {
  let seen = ''
  while (!signal?.aborted) {
    const found = await store.get(id)
    if (!found) return
    const { job } = found
    const now = JSON.stringify([job.state, job.attempt, job.epoch, job.generation, job.progress])
    if (now !== seen) yield job
    seen = now
    if (!PENDING_STATES.includes(job.state)) return
    await clock.sleep(pollMs, signal)
  }
}
