import { load as loadPackage } from '../lib/packages.ts'
import { ENTRIES_MAX, FRESH_MS, type List, type Peer } from '../lib/peer.ts'
import { connected } from '../lib/redis.ts'

interface Package {
  LRUCache: new (options: object) => { fetch(key: string): Promise<List> }
}

/** `fetch`: memory alone. The shared cache is what people write beside it by hand. */
export const lruCache: Peer = {
  package: 'lru-cache',
  hasStale: true,
  async open({ tier, url, load }) {
    if (tier === 'shared') {
      const client = await connected(url)
      return {
        async get(key) {
          const text = await client.get(key)
          if (text !== null) return JSON.parse(text)
          const list = await load(key)
          await client.set(key, JSON.stringify(list), 'PX', FRESH_MS)
          return list
        },
        close: async () => client.disconnect(),
      }
    }
    const { LRUCache } = await loadPackage<Package>('lru-cache')
    const cache = new LRUCache({ max: ENTRIES_MAX, ttl: FRESH_MS, fetchMethod: load })
    return { get: (key) => cache.fetch(key), close: async () => {} }
  },
}
