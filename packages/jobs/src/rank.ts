/**
 * Fair order between tenants: start-time fair queueing. A job's rank is its start tag,
 * `max(virtual time, the tenant's last rank) + cost`, and jobs are served in order of rank. A tenant with 10,000
 * jobs spreads them over 10,000 ranks; a tenant with one gets the next rank after what is being served now, so
 * it waits for a few jobs and not for 10,000. Fairness costs one ordered index and no scan.
 *
 * Ranks are whole numbers (exact in SQLite, PostgreSQL and JavaScript): one job of a tenant of weight 1 costs
 * RANK_UNIT. At a million jobs a second they stay below 2^53 for more than two centuries.
 */
export const RANK_UNIT = 1

export interface Backlog {
  /** Rank of the newest job that has been claimed. */
  virtualTime: number
  /** Rank of the tenant's newest submitted job; 0 for a new tenant. */
  lastRank: number
}

/** The rank of the tenant's next job. Pure. */
export function nextRank({ virtualTime, lastRank }: Backlog): number {
  return Math.max(virtualTime, lastRank) + RANK_UNIT
}

/**
 * The rank of a job whose waiting time is over (a retry, a job for later). It competes from now on: ranks that
 * others have been served past are gone, and of the jobs of one tenant that come back together each stands one
 * further back (`place`, from 1). Without the place a site's outage would bring a thousand retries back at one
 * rank, before everybody's next job. Pure.
 */
export function returningRank({
  rank,
  virtualTime,
  place,
}: {
  rank: number
  virtualTime: number
  place: number
}): number {
  return Math.max(rank, virtualTime + place * RANK_UNIT)
}

export interface Bounds {
  /** Most pending (ready or running) jobs of one tenant. */
  perTenant: number
  /** Most pending jobs in all. */
  total: number
}

/** Which bound the next submission would break, if any. Pure; the caller holds the row lock. */
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
