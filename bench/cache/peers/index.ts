import type { Peer } from '../lib/peer.ts'
import { asyncCacheDedupe } from './async-cache-dedupe.ts'
import { bentocache } from './bentocache.ts'
import { cacheable } from './cacheable.ts'
import { garner } from './garner.ts'
import { lruCache } from './lru-cache.ts'

/** A peer more is a file like these and a line here. */
export const PEERS: Record<string, Peer> = {
  garner,
  'async-cache-dedupe': asyncCacheDedupe,
  bentocache,
  cacheable,
  'lru-cache': lruCache,
}
