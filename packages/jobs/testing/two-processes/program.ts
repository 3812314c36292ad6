import { openSqlite } from '@garner/db/sqlite'
import { createSqliteStore } from '../../src/sqlite/store.ts'
import { type Instant, LockClock, standingClock } from './clocks.ts'
import type { Offer, OpenOther, OtherStore } from './other-process.ts'
import { type Message, Wire } from './wire.ts'

/**
 * The other process (other-process.ts): opens stores on files and lends them to the one that has started it. Lives as
 * long as that one: when the channel closes, it ends where it stands.
 */
let instant: Instant = { nowMs: 0, monotonicMs: 0 }
const wire = new Wire({ send: (message) => process.send!(message) })
process.on('message', (message: Message) => {
  instant = message.stamp as Instant
  wire.take(message)
})
process.on('disconnect', () => process.exit())
const offer: Offer = { open, pid: async () => process.pid }
wire.offer(offer)

async function open({ path, bounds, retryAfterMs }: OpenOther): Promise<OtherStore> {
  const locks = new LockClock()
  const db = openSqlite({ path, clock: locks })
  const store = createSqliteStore({ db, clock: standingClock(() => instant), bounds, retryAfterMs })
  return {
    ...store,
    async settled() {
      // Ten turns: a call that was made takes two or three to its first wait for the lock or for the other end.
      for (let n = 0; n < 10; n++) await new Promise(setImmediate)
    },
    lockWaits: async () => locks.waits,
    close: () => db.close(),
  }
}
