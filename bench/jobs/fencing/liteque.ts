import { sleep } from '../lib/clock.ts'
import { freshFile } from '../lib/place.ts'
import { openLiteque } from '../peers/liteque.ts'
import type { Probe } from './probe.ts'

/** Its lease is in whole seconds: two seconds after one of none, the job is anybody's again. */
const LEASE_IS_OVER_MS = 2100

export const litequeProbe: Probe = {
  peer: 'liteque',
  library: 'liteque',
  server: 'none',
  async run() {
    const queue = await openLiteque({
      file: freshFile('probe-liteque.db'),
      isSynced: false,
      isNew: true,
      queueOptions: { defaultJobArgs: { numRetries: 3 }, keepFailedJobs: true },
    })
    await queue.enqueue({})
    const a = await queue.attemptDequeue({ timeoutSecs: 0 })
    await sleep(LEASE_IS_OVER_MS)
    const b = await queue.attemptDequeue({ timeoutSecs: 60 })
    if (!a || !b || a.id !== b.id) throw new Error('B was not given the job of A.')
    await queue.finalize(a.id, a.allocationId, 'completed')
    const afterAEnded = await queue.stats()
    await queue.finalize(b.id, b.allocationId, 'pending_retry')
    return { afterAEnded, afterBFailed: await queue.stats() }
  },
}
