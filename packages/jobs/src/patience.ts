import type { Clock } from '@garner/db'
import { StoreUnavailable } from './errors.ts'

/** 100 ms to 2 s between tries to reach the store: long enough not to add to its trouble. */
const STORE_WAIT_MS = { first: 100, most: 2_000 }

/**
 * Asks the store until it answers or the lease is lost: what was done (and maybe paid) is not thrown away because
 * the store is away for a moment. The call must bear repeating, since a failed one may have landed.
 * Errors: StoreUnavailable once the lease is lost; whatever else `ask` throws, at once.
 */
export async function untilStored<T>(
  { clock, lost }: { clock: Clock; lost: () => AbortSignal },
  ask: () => Promise<T>,
): Promise<T> {
  for (let waitMs = STORE_WAIT_MS.first; ; waitMs = Math.min(waitMs * 2, STORE_WAIT_MS.most)) {
    try {
      return await ask()
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || lost().aborted) throw error
      await clock.sleep(waitMs, lost())
    }
  }
}
