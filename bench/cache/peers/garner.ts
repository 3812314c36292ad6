import { randomUUID } from 'node:crypto'
import { type BudgetLedger, Cache, jsonCodec, OriginBudget } from '@garner/cache'
import { createValkeyEntries, type ValkeyEntries } from '@garner/cache/valkey'
import { systemClock } from '@garner/db'
import { FRESH_MS, type List, type Peer } from '../lib/peer.ts'

/** Hits ask nobody; what is read before the measurement must not wait for a share to grow. */
const ENDLESS: BudgetLedger = {
  configure: async () => {},
  lease: async () => ({ generation: 1, rate: 1e6, ownRate: 0, concurrency: 1e6, ttlMs: 1e9, isOwed: false }),
  release: async () => {},
  standing: async () => null,
}

export const garner: Peer = {
  package: null,
  hasStale: true,
  async open({ tier, url, load }) {
    const common = { clock: systemClock(), random: Math.random, incarnation: randomUUID() }
    const capacity = { rate: 1e6, concurrency: 1e6, loadMaxMs: 2_500 }
    const budget = new OriginBudget({
      ...common,
      ledger: ENDLESS,
      budget: 'bench',
      capacity,
      holder: 'bench',
    })
    const stop = new AbortController()
    const running = budget.run(stop.signal)
    const shared = tier === 'shared' ? await answering(url) : undefined
    const cache = new Cache<List>({
      ...{ ...common, budget, codec: jsonCodec<List>(), shared, freshMs: FRESH_MS, maxAgeMs: 2 * FRESH_MS },
      // On a busy machine calls are to be slow, not refused: it is their time that is measured.
      ...{ waitMs: 10_000, sharedMs: 2_000 },
      memoryMaxBytes: tier === 'memory' ? 256 * 1024 * 1024 : 0,
    })
    return {
      get: async (key) =>
        (await cache.get(key, { scope: 'list', load: async () => ({ body: await load(key) }) })).body,
      async close() {
        stop.abort('done')
        await running
        await cache.close()
        await shared?.close()
      },
    }
  },
}

/** A server is started with Garner in mind; one that is not there yet would be done without for some seconds. */
async function answering(url: string): Promise<ValkeyEntries> {
  const entries = createValkeyEntries({ url, prefix: 'garner:', clock: systemClock() })
  for (;;) {
    try {
      await entries.release('', '')
      return entries
    } catch {
      await systemClock().sleep(5)
    }
  }
}
