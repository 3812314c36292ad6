import { sleep } from '../lib/clock.ts'
import type { Backend } from '../peers/garner.ts'
import { type Probe, until } from './probe.ts'

/** The shortest lease that there is; a little later it is over. */
const LEASE_MS = 1000
const KIND = 'noop'

export function garnerProbe(backend: Backend): Probe {
  return {
    peer: backend.name,
    library: undefined,
    server: backend.server,
    async run() {
      await backend.reset()
      const { db, store } = await backend.open()
      const [submitted] = await store.accept([
        { id: 'probe-1', kind: KIND, tenant: 'tenant-1', payload: {}, deadlineMs: 60_000 },
      ])
      const claimed = async (worker: string) =>
        (await store.claim({ worker, limit: 1, leaseMs: LEASE_MS, kinds: [{ kind: KIND }] }))[0]
      const look = async () => {
        const found = await store.get(submitted!.job.id)
        const { state, epoch, progress } = found!.job
        return {
          state,
          epoch,
          progress,
          attempts: found!.attempts.map(({ outcome, error }) => outcome ?? error),
        }
      }
      const a = await until(() => claimed('A'))
      await sleep(LEASE_MS + 100)
      const b = await until(() => claimed('B'))
      const lateProgress = await store.progress(a, 77)
      const publishedByA = await store.publish(a, { state: 'succeeded' })
      const afterAEnded = await look()
      const inAMinute = b.claimedAtMs + 60_000
      const retry = {
        state: 'ready' as const,
        outcome: 'retried' as const,
        runAtMs: inAMinute,
        reason: 'B failed',
      }
      const publishedByB = await store.publish(b, retry)
      const afterBFailed = await look()
      const stale = (await store.totals()).find(({ name }) => name === 'stale_publications')?.value
      await db.close()
      return { lateProgress, publishedByA, afterAEnded, publishedByB, afterBFailed, stalePublications: stale }
    },
  }
}
