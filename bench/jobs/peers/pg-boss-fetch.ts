import { sleep } from '../lib/clock.ts'
import type { Peer } from '../lib/peer.ts'
import { openBoss, pgBoss, QUEUE } from './pg-boss.ts'

// Its own transactions are the other configuration's; here a batch is completed after its jobs have run.
const { written: _, ...common } = pgBoss

/** pg-boss through `fetch` and `complete` with arrays in a loop of one's own, the other way its documents show. */
export const pgBossFetch: Peer = {
  ...common,
  name: 'pg-boss-fetch',
  configs: {
    best: { about: 'Two loops of fetch() and complete() with batches of 1,000; pools of 20', perCall: 5000 },
  },
  async worker(_config, handler) {
    const boss = await openBoss({ max: 20 })
    await boss.start()
    let isOn = true
    const loop = async () => {
      while (isOn) {
        const jobs = await boss.fetch(QUEUE, { batchSize: 1000 })
        for (const { data } of jobs) handler(data)
        // The jobs, not their ids: only then does a job that was given to another stay untouched.
        if (jobs.length > 0) await boss.complete(QUEUE, jobs)
        else await sleep(5)
      }
    }
    let loops: Promise<void>[] = []
    return {
      async start() {
        loops = [loop(), loop()]
      },
      stopSoon() {
        isOn = false
      },
      async stop() {
        isOn = false
        await Promise.all(loops)
        await boss.stop({ graceful: false, close: true })
      },
    }
  },
}
