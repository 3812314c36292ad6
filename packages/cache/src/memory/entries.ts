import type { Clock } from '@garner/db'
import type { News, SharedEntries } from '../store.ts'

interface Row {
  copy: { version: number; readAtMs: number; keepUntilMs: number; bytes: Uint8Array } | null
  floor: number
  floorUntilMs: number
  lease: { token: string; floor: number; untilMs: number } | null
}

/**
 * The contract of `SharedEntries` as code that can be stepped through, on one map. For tests and simulations, where
 * several caches in one process play a fleet; it is not bounded.
 */
export function createMemoryEntries({ clock }: { clock: Clock }): SharedEntries {
  const rows = new Map<string, Row>()
  const listeners = new Set<(news: News) => void>()
  const now = () => clock.monotonicMs()
  const tell = (news: News) => {
    for (const hear of listeners) hear(news)
  }

  /** The row as it stands now: what has run out is gone. */
  function rowOf(address: string): Row {
    const row = rows.get(address) ?? { copy: null, floor: 0, floorUntilMs: 0, lease: null }
    if (row.copy && row.copy.keepUntilMs <= now()) row.copy = null
    if (row.floorUntilMs <= now()) row.floor = 0
    rows.set(address, row)
    return row
  }

  function raise(row: Row, { version, keepMs }: { version: number; keepMs: number }): void {
    row.floor = Math.max(row.floor, version)
    row.floorUntilMs = Math.max(row.floorUntilMs, now() + keepMs)
  }

  return {
    async look(address, { minVersion, floor, freshMs, token, leaseMs }) {
      const row = rowOf(address)
      const needed = Math.max(floor, row.floor)
      const copy =
        row.copy && row.copy.version >= minVersion
          ? { version: row.copy.version, ageMs: now() - row.copy.readAtMs, bytes: row.copy.bytes }
          : null
      const found = { copy, floor: row.floor }
      if (copy && copy.ageMs < freshMs && copy.version >= needed)
        return { ...found, fill: 'unneeded', leaseMs: 0 }
      const { lease } = row
      if (lease && lease.untilMs > now() && lease.floor >= floor && lease.token !== token)
        return { ...found, fill: 'others', leaseMs: lease.untilMs - now() }
      row.lease = { token, floor: needed, untilMs: now() + leaseMs }
      return { ...found, fill: 'yours', leaseMs }
    },

    async store(address, { token, version, ageMs, keepMs, bytes }) {
      const row = rowOf(address)
      if (row.lease?.token !== token || row.lease.untilMs <= now()) return 'overtaken'
      row.lease = null
      if (version < row.floor || (row.copy && version < row.copy.version)) {
        tell({ kind: 'freed', address })
        return 'overtaken'
      }
      row.copy = { version, readAtMs: now() - ageMs, keepUntilMs: now() + keepMs, bytes }
      tell({ kind: 'filled', address })
      return 'stored'
    },

    async release(address, token) {
      const row = rowOf(address)
      if (row.lease?.token !== token) return
      row.lease = null
      tell({ kind: 'freed', address })
    },

    async invalidate(address, request) {
      const row = rowOf(address)
      raise(row, request)
      if (row.lease && row.lease.floor < request.version) row.lease = null
      tell({ kind: 'outdated', address, version: request.version })
    },

    async forget(address, request) {
      const row = rowOf(address)
      raise(row, request)
      row.copy = null
      row.lease = null
      tell({ kind: 'forgotten', address, version: request.version })
    },

    listen(hear) {
      listeners.add(hear)
      return {
        isUp: true,
        async close() {
          listeners.delete(hear)
        },
      }
    },
  }
}
