import { type Around, type Clock, StoreUnavailable } from '@garner/db'

/**
 * The one way to ask who someone is and what they belong to.
 *
 * Promises: an answer from the database, or an error; never an older answer. Cut here (database gone, or silent),
 * the person sees a 503 and nothing that they may have lost the right to see.
 */
export type AccountRead = <T>(effect: () => Promise<T>) => Promise<T>

/** 2 s: a healthy read takes microseconds; at much more, callers pile up behind a database that is gone. */
const READ_MAX_MS = 2_000

/**
 * @param around the seam `account.read`; left out, the read is made directly.
 * @param maxMs how long the database may be silent
 * Errors of what it returns: StoreUnavailable after `maxMs` of silence; what the read or the seam throws.
 */
export function accountRead({
  around,
  clock,
  maxMs = READ_MAX_MS,
}: {
  around: Around | undefined
  clock: Clock
  maxMs?: number
}): AccountRead {
  if (!around) return (effect) => effect()
  const turn = turnOfTheLoop()
  return async (effect) => {
    const reading = around('account.read', effect)
    // A read of SQLite ends within this turn of the event loop. Only one that does not gets a timer.
    const first = await Promise.race([reading.then((value) => ({ value })), turn()])
    if (first) return first.value
    const late = new AbortController()
    try {
      const second = await Promise.race([
        reading.then((value) => ({ value })),
        clock.sleep(maxMs, late.signal),
      ])
      if (second) return second.value
    } finally {
      late.abort()
    }
    reading.catch(() => {})
    throw new StoreUnavailable('busy', 'reading an account')
  }
}

/** The end of the current turn of the event loop, one promise for all who ask in it. */
function turnOfTheLoop(): () => Promise<void> {
  let current: Promise<void> | null = null
  return () => {
    current ??= new Promise((resolve) =>
      setImmediate(() => {
        current = null
        resolve()
      }),
    )
    return current
  }
}
