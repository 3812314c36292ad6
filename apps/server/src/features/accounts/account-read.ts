import type { Around, Clock } from '@garner/db'
import { unavailable } from '../../problem.ts'

/**
 * The one way to ask who someone is and what they belong to.
 *
 * Promises: an answer from the database, or an error; never an older answer. Cut here (database gone, or silent),
 * the person sees a 503 and nothing that they may have lost the right to see.
 */
export type AccountRead = <T>(effect: () => Promise<T>) => Promise<T>

/** 2 s: a healthy read takes microseconds; at much more, callers pile up behind a database that is gone. */
const READ_MAX_MS = 2_000

/** @param around the seam `account.read`; left out, the read is made directly. */
export function accountRead({ around, clock }: { around: Around | undefined; clock: Clock }): AccountRead {
  if (!around) return (effect) => effect()
  return async (effect) => {
    const reading = around('account.read', effect)
    // A read that ends by itself costs one turn of the event loop at most; only a silent one gets a timer.
    const turn = new Promise<void>((resolve) => setImmediate(resolve))
    const first = await Promise.race([reading.then((value) => ({ value })), turn])
    if (first) return first.value
    const late = new AbortController()
    try {
      const second = await Promise.race([
        reading.then((value) => ({ value })),
        clock.sleep(READ_MAX_MS, late.signal),
      ])
      if (second) return second.value
    } finally {
      late.abort()
    }
    reading.catch(() => {})
    throw unavailable(
      'Garner cannot check who you are right now, so it shows nothing. Try again in a moment.',
      2_000,
    )
  }
}
