import { load as loadPackage } from '../lib/packages.ts'
import { ENTRIES_MAX, FRESH_MS, type List, type Peer } from '../lib/peer.ts'

interface Store {
  on(event: 'error', listener: () => void): void
  disconnect(): Promise<void>
  serialize?: unknown
  deserialize?: unknown
}
interface Package {
  Cacheable: new (
    options: object,
  ) => {
    on(event: 'error', listener: () => void): void
    getOrSet(key: string, load: () => Promise<List>, options: object): Promise<List>
  }
  KeyvCacheableMemory: new (options: object) => object
  Keyv: new (options: object) => Store
}

/** Without clones, as the others: bodies are not to be changed. */
export const cacheable: Peer = {
  package: 'cacheable',
  hasStale: false,
  async open({ tier, url, load }) {
    const { Cacheable, KeyvCacheableMemory, Keyv } = await loadPackage<Package>('cacheable')
    const { default: KeyvRedis } = await loadPackage<{ default: new (url: string) => Store }>('@keyv/redis')
    const redis = tier === 'shared' ? new KeyvRedis(url) : null
    redis?.on('error', () => {})
    const memory = () => new KeyvCacheableMemory({ lruSize: ENTRIES_MAX, useClone: false })
    const primary = new Keyv({ store: redis ?? memory(), useKeyPrefix: false })
    if (!redis) Object.assign(primary, { serialize: undefined, deserialize: undefined })
    const cache = new Cacheable({ primary, ttl: FRESH_MS })
    cache.on('error', () => {})
    return {
      get: (key) => cache.getOrSet(key, () => load(key), { ttl: FRESH_MS, throwErrors: 'function' }),
      close: async () => redis?.disconnect().catch(() => {}),
    }
  },
}
