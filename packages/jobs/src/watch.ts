import type { Clock } from '@garner/db'
import { type Job, PENDING_STATES } from './job.ts'
import type { JobStore } from './store.ts'

/** How a watch waits. */
export interface WatchOptions {
  clock: Clock
  /** Longest time until a change is noticed that no hint came for. Milliseconds. */
  pollMs: number
  signal?: AbortSignal
}

/**
 * A job each time it has changed: its state, try, generation or progress. The first is the job as it is, the last
 * its end; ends also when the job is gone or `signal` aborts. Changes that follow each other quickly may be seen as
 * one: it is the row that is read, hints only make it be read sooner. Errors: StoreUnavailable.
 */
export async function* watch<Tx>(
  store: Pick<JobStore<Tx>, 'get' | 'listen'>,
  id: string,
  { clock, pollMs, signal }: WatchOptions,
): AsyncGenerator<Job> {
  let wake = new AbortController()
  const listening = await store.listen(() => wake.abort('hint'))
  try {
    let seen = ''
    while (!signal?.aborted) {
      wake = new AbortController()
      const found = await store.get(id)
      if (!found) return
      const { job } = found
      const now = JSON.stringify([job.state, job.attempt, job.epoch, job.generation, job.progress])
      if (now !== seen) yield job
      seen = now
      if (!PENDING_STATES.includes(job.state)) return
      await clock.sleep(pollMs, signal ? AbortSignal.any([signal, wake.signal]) : wake.signal)
    }
  } finally {
    await listening.close()
  }
}
