import type { PostgresDatabase } from '@garner/db/postgres'
import type { Listening } from '../store.ts'
import * as sql from './sql.ts'

/** What job_announce notifies. */
const CHANNEL = 'garner_jobs'

/**
 * Hears of work through LISTEN, and says when it is worth announcing: a notification makes commits wait for each other
 * (1,400 a second instead of 2,900 on the machine of bench/jobs), so it is sent only while some worker rests.
 *
 * A submission that has looked who rests before this worker said so, and commits after the worker's last look, is not
 * announced: the poll finds it. So a worker that waits for work stays registered from one rest to the next.
 * Behind a pooler without a way around it nothing is heard, and nothing is registered: polling finds the work.
 */
export async function listenToJobs(
  db: PostgresDatabase,
  { wake, now }: { wake: () => void; now: () => number | null },
): Promise<Listening> {
  const listener = await db.listen(CHANNEL, wake)
  if (!listener) return { resting: async () => {}, busy: async () => {}, close: async () => {} }
  const { worker } = (await db.read.get<{ worker: string }>(sql.WORKER_NAME))!
  const { clock } = db
  /** Until when it is registered, by the monotonic clock. */
  let registeredUntilMs = Number.NEGATIVE_INFINITY

  async function busy(): Promise<void> {
    if (registeredUntilMs === Number.NEGATIVE_INFINITY) return
    registeredUntilMs = Number.NEGATIVE_INFINITY
    await db.autocommit.all(sql.BUSY, worker)
  }
  return {
    async resting(forMs) {
      const nowMs = clock.monotonicMs()
      // Registered for most of that time anyway: nothing to say.
      if (registeredUntilMs - nowMs > forMs / 2) return
      await db.autocommit.all(sql.REST, worker, now(), forMs)
      registeredUntilMs = nowMs + forMs
    },
    busy,
    async close() {
      await listener.close()
      await busy()
    },
  }
}
