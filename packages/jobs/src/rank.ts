/**
 * Fair order between tenants: start-time fair queueing. A job's rank is its start tag,
 * `max(virtual time, the tenant's last rank) + cost`, and jobs are served in order of rank. A tenant with 10,000
 * jobs spreads them over 10,000 ranks; a tenant with one gets the next rank after what is being served now, so
 * it waits for a few jobs and not for 10,000. Fairness costs one ordered index and no scan.
 *
 * Each priority is a line of its own, with its own virtual time and last ranks: with one of each, an urgent job of
 * a tenant with a backlog would be ranked behind that backlog, and being served first would move the virtual time
 * there, so that everybody's next ordinary job stood behind the backlog too.
 *
 * Ranks are whole numbers (exact in SQLite, PostgreSQL and JavaScript). One job of a tenant of weight 1 costs
 * RANK_UNIT, one of weight w RANK_UNIT / w. At 10,000 jobs a second of one tenant they stay below 2^53 for 28 years.
 * The rounding moves a share by at most 1 % up to weight 20, and by 5 % up to 100.
 */
export const RANK_UNIT = 1000

export interface Backlog {
  /** Highest rank of the jobs of this priority that have been claimed. */
  virtualTime: number
  /** Rank of the tenant's newest submitted job of this priority; 0 when there was none. */
  lastRank: number
  /** Of the tenant; see `setWeight`. */
  weight: number
}

/** What one job takes of its tenant's turn. Pure. Errors: RangeError for a weight outside 0.01..100. */
export function costOf(weight: number): number {
  if (!(weight >= 0.01 && weight <= 100)) throw new RangeError(`Weight ${weight}: expected 0.01 to 100.`)
  return Math.round(RANK_UNIT / weight)
}

/** The rank of the tenant's next job. Pure. */
export function nextRank({ virtualTime, lastRank, weight }: Backlog): number {
  return Math.max(virtualTime, lastRank) + costOf(weight)
}

/**
 * The rank of a job that comes back: a retry, a job for later, one whose lease ran out. It competes from now on: ranks
 * that others have been served past are gone, and of the jobs of one tenant and priority that come back together
 * each stands one turn further back (`place`, from 1). Without the place a site's outage would bring a thousand
 * retries back at one rank, before everybody's next job; without the weight they would come back as equals. Pure.
 */
export function returningRank({
  rank,
  virtualTime,
  weight,
  place,
}: {
  rank: number
  virtualTime: number
  weight: number
  place: number
}): number {
  return Math.max(rank, virtualTime + place * costOf(weight))
}

/** How much may be pending (J8). */
export interface Bounds {
  /** Most pending (ready or running) jobs of one tenant. */
  perTenant: number
  /** Most pending jobs in all. */
  total: number
}

/** Which bound one more job would break, if any. Pure; the caller holds the row lock. */
export function brokenBound(
  pending: { tenant: number; total: number },
  bounds: Bounds,
): { scope: 'tenant' | 'total'; limit: number; pending: number } | null {
  if (pending.tenant >= bounds.perTenant) {
    return { scope: 'tenant', limit: bounds.perTenant, pending: pending.tenant }
  }
  if (pending.total >= bounds.total) return { scope: 'total', limit: bounds.total, pending: pending.total }
  return null
}
