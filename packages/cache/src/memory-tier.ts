import { LRUCache } from 'lru-cache'
import type { Entry } from './entry.ts'

/** What this process knows of one key. */
export interface Slot<Body> {
  entry: Entry<Body> | undefined
  /** The newest version that is known to exist. */
  floor: number
  /** Refreshes that failed or were refused in a row, and when the next may be tried, by the age clock. */
  failures: number
  refreshAtMs: number
}

/** Beside its body: the slot, the entry, the LRU's lists and maps, its address; measured at 300 to 500 bytes. */
const OVERHEAD_BYTES = 450

/** The first tier: the most recently used slots, within a bound in bytes. */
export class MemoryTier<Body> {
  readonly #lru: LRUCache<string, Slot<Body>> | null

  /** @param maxBytes 0 for none. */
  constructor(maxBytes: number) {
    this.#lru = maxBytes > 0 ? new LRUCache({ maxSize: maxBytes }) : null
  }

  get isOff(): boolean {
    return this.#lru === null
  }

  get(address: string): Slot<Body> | undefined {
    return this.#lru?.get(address)
  }

  /** Puts an entry there, or (with none) only what is known of its version. */
  put(address: string, part: { entry?: Entry<Body>; bytes?: number; floor?: number }): void {
    if (!this.#lru) return
    const known = this.#lru.peek(address)
    const slot: Slot<Body> = {
      entry: part.entry ?? known?.entry,
      floor: Math.max(part.floor ?? 0, known?.floor ?? 0),
      failures: 0,
      refreshAtMs: 0,
    }
    if (!part.entry && known) Object.assign(known, { floor: slot.floor })
    else this.#lru.set(address, slot, { size: (part.bytes ?? 0) + address.length * 2 + OVERHEAD_BYTES })
  }

  /** Removes the copy and keeps what is known of its version. */
  forget(address: string, floor: number): void {
    const known = this.#lru?.peek(address)
    this.#lru?.delete(address)
    this.put(address, { floor: Math.max(floor, known?.floor ?? 0) })
  }

  counters(): { entries: number; bytes: number } {
    return { entries: this.#lru?.size ?? 0, bytes: this.#lru?.calculatedSize ?? 0 }
  }
}
