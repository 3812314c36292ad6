import { createValkeyEntries, type ValkeyEntries } from '@garner/cache/valkey'
import type { Clock } from '@garner/db'
import type { Logger } from 'pino'
import { sharedPrefix } from './cached-lists.ts'

/**
 * The shared cache that GARNER_CACHE_URL names; loaded only where one is configured. It being away costs time once, and
 * a log line a minute: reads go on without it, within the budget.
 */
export function openSharedCache(
  url: string,
  { secret, logger, clock }: { secret: string; logger: Logger; clock: Clock },
): ValkeyEntries {
  let saidAtMs = Number.NEGATIVE_INFINITY
  return createValkeyEntries({
    ...{ url, clock, prefix: sharedPrefix(secret) },
    onFault: (error) => {
      const nowMs = clock.monotonicMs()
      if (nowMs - saidAtMs < SAY_EVERY_MS) return
      saidAtMs = nowMs
      const { code } = error as { code?: string }
      logger.warn({ error: error.name, code }, 'the shared cache cannot be reached')
    },
  })
}

/** Connections are tried again all the time. */
const SAY_EVERY_MS = 60_000
