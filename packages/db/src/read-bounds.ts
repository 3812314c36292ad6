import type { Clock } from './clock.ts'
import { StoreUnavailable } from './errors.ts'

/** When several reads for one answer have to be over. */
export interface ReadBounds {
  /** From now, in milliseconds. */
  maxMs: number
  /** Nothing more is asked once it aborts. */
  signal?: AbortSignal
}

/**
 * What is left of them, each time it is asked: more than 0 ms.
 * Errors of what it returns: the signal's reason; StoreUnavailable (busy) when the time is over.
 */
export function leftOf({ maxMs, signal }: ReadBounds, clock: Clock): () => number {
  const untilMs = clock.monotonicMs() + maxMs
  return () => {
    signal?.throwIfAborted()
    const leftMs = untilMs - clock.monotonicMs()
    if (leftMs > 0) return leftMs
    throw new StoreUnavailable('busy', `reading within ${Math.round(maxMs)} ms`)
  }
}
