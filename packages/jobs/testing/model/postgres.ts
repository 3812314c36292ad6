import type { PostgresTransaction } from '@garner/db/postgres'
import { expect } from 'vitest'
import { openStores, pendingOf } from '../postgres.ts'
import { BOUNDS } from './commands.ts'
import type { Seat } from './seat.ts'

/** @param url of a prepared database; it is emptied */
export async function openPostgresSeat(url: string): Promise<Seat<PostgresTransaction>> {
  const { db, store, clock, close } = await openStores(url, { bounds: BOUNDS, retryAfterMs: 10_000 })
  return {
    store,
    clock,
    close,
    assertSound: async () => {
      const { jobs, total, tenants } = await pendingOf(db)
      expect({ total, tenants }).toEqual({ total: jobs, tenants: jobs })
    },
  }
}
