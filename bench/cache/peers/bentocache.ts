import { load as loadPackage } from '../lib/packages.ts'
import { ENTRIES_MAX, FRESH_MS, type List, type Peer } from '../lib/peer.ts'
import { connected } from '../lib/redis.ts'

interface Store {
  useL1Layer(driver: unknown): Store
  useL2Layer(driver: unknown): Store
}
interface Package {
  BentoCache: new (
    options: object,
  ) => {
    getOrSet(options: { key: string; factory: () => Promise<List> }): Promise<List>
    disconnectAll(): Promise<void>
  }
  bentostore(): Store
}

/** The first tier keeps JSON text, which is the library's default. */
export const bentocache: Peer = {
  package: 'bentocache',
  hasStale: true,
  async open({ tier, url, load }) {
    const { BentoCache, bentostore } = await loadPackage<Package>('bentocache')
    const { memoryDriver } = await loadPackage<{ memoryDriver(options: object): unknown }>(
      'bentocache/drivers/memory',
    )
    const { redisDriver } = await loadPackage<{ redisDriver(options: object): unknown }>(
      'bentocache/drivers/redis',
    )
    const client = tier === 'shared' ? await connected(url) : null
    const main = client
      ? bentostore().useL2Layer(redisDriver({ connection: client }))
      : bentostore().useL1Layer(memoryDriver({ maxItems: ENTRIES_MAX }))
    const cache = new BentoCache({
      ...{ default: 'main', stores: { main }, ttl: FRESH_MS },
    })
    return {
      get: (key) => cache.getOrSet({ key, factory: () => load(key) }),
      async close() {
        await cache.disconnectAll().catch(() => {})
        client?.disconnect()
      },
    }
  },
}
