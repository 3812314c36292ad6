import type { Clock } from '@garner/db'
import type { Listening } from '../store.ts'
import type { MemoryTransaction } from './transaction.ts'

interface Listener {
  wake: () => void
  /** Until when it rests; 0 while it is busy. */
  restsUntilMs: number
}

/** Who is told that something may have become due: those at rest, once the transaction that made it so is there. */
export class Listeners {
  readonly #listeners = new Set<Listener>()
  readonly #clock: Clock

  constructor(clock: Clock) {
    this.#clock = clock
  }

  listen(wake: () => void): Listening {
    const listener: Listener = { wake, restsUntilMs: 0 }
    this.#listeners.add(listener)
    return {
      resting: async (forMs) => {
        listener.restsUntilMs = this.#clock.nowMs() + forMs
      },
      busy: async () => {
        listener.restsUntilMs = 0
      },
      close: async () => {
        this.#listeners.delete(listener)
      },
    }
  }

  /** Tells of `tx`; nobody if it is undone. */
  announce(tx: MemoryTransaction): void {
    tx.afterCommit(() => {
      const nowMs = this.#clock.nowMs()
      for (const one of this.#listeners) if (one.restsUntilMs > nowMs) one.wake()
    })
  }
}
