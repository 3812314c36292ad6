import type { AttemptEnd, Worker } from '@garner/jobs'

/** What one pass over everything that is due did. */
export type StepReport = Record<
  'claimed' | 'published' | 'superseded' | 'degraded' | 'retried' | 'dead' | 'discarded' | 'stale',
  number
>

/** Runs passes until nothing is due any more. Sleeps nowhere: what is due later stays for later. */
export async function stepUntilDone<Tx>(worker: Worker<Tx>): Promise<StepReport> {
  const report: StepReport = {
    ...{ claimed: 0, published: 0, superseded: 0, degraded: 0, retried: 0, dead: 0, discarded: 0, stale: 0 },
  }
  const ends = await worker.drain()
  report.claimed = ends.length
  for (const end of ends) if (isReported(end)) report[end] += 1
  return report
}

function isReported(end: AttemptEnd): end is Exclude<AttemptEnd, 'released'> {
  return end !== 'released'
}
