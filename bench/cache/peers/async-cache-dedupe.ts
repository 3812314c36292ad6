import { load as loadPackage } from '../lib/packages.ts'
import { ENTRIES_MAX, FRESH_MS, type List, type Peer } from '../lib/peer.ts'
import { connected } from '../lib/redis.ts'

interface Package {
  createCache(options: object): {
    define(name: string, load: (key: string) => Promise<List>): void
    list(key: string): Promise<List>
  }
}

/** One storage: memory or Redis. Whole seconds. */
export const asyncCacheDedupe: Peer = {
  package: 'async-cache-dedupe',
  hasStale: true,
  async open({ tier, url, load }) {
    const { createCache } = await loadPackage<Package>('async-cache-dedupe')
    const client = tier === 'shared' ? await connected(url) : null
    const cache = createCache({
      ...{ ttl: FRESH_MS / 1000, stale: 0, onError: () => {} },
      storage: client
        ? { type: 'redis', options: { client } }
        : { type: 'memory', options: { size: ENTRIES_MAX } },
    })
    cache.define('list', load)
    return { get: (key) => cache.list(key), close: async () => client?.disconnect() }
  },
}
