import type { Clock } from '@garner/db'
import { StoreUnavailable } from './errors.ts'

/** 100 ms to 2 s between tries to reach the store: long enough not to add to its trouble. */
const STORE_WAIT_MS = { first: 100, most: 2_000 }

export interface Patience {
  clock: Clock
  /** Aborted when the lease is lost. */
  lost: () => AbortSignal
}

/**
 * Asks the store until it answers or the lease is lost: what was done (and maybe paid) is not thrown away because
 * the store is away for a moment. The call must bear repeating, since a failed one may have landed.
 * Errors: StoreUnavailable once the lease is lost; whatever else `ask` throws, at once.
 */
export function untilStored<T>(patience: Patience, ask: () => Promise<T>): Promise<T> {
  // The usual answer comes at once, for each job: no loop is set up for it.
  return ask().catch((error) => askAgain(patience, ask, error))
}

async function askAgain<T>({ clock, lost }: Patience, ask: () => Promise<T>, error: unknown): Promise<T> {
  let trouble = error
  for (let waitMs = STORE_WAIT_MS.first; ; waitMs = Math.min(waitMs * 2, STORE_WAIT_MS.most)) {
    if (!(trouble instanceof StoreUnavailable) || lost().aborted) throw trouble
    await clock.sleep(waitMs, lost())
    try {
      return await ask()
    } catch (again) {
      trouble = again
    }
  }
}
