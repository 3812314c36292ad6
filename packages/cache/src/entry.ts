/**
 * What may be served, and how. Pure. Age always counts from the moment before the origin was asked, and goes with a
 * copy through both tiers: what comes from the shared cache is as old here as it was there.
 */
export interface Entry<Body> {
  body: Body
  /** What the origin said; 0 where the caller has no versions. */
  version: number
  /** When the origin was asked, by this process's `AgeClock`. */
  readAtMs: number
  /** This copy's own time of being fresh: the stated one, a little less, so that copies do not all end at once. */
  freshMs: number
}

export interface AgeRules {
  /** Up to this age a copy is served as it is. */
  freshMs: number
  /** No copy is served that is older, whatever fails; ms. */
  maxAgeMs: number
}

/** fresh: serve; stale: serve, and refresh behind; expired: never serve. */
export type Standing = 'fresh' | 'stale' | 'expired'

/** `floor`: the newest version that is known to exist. A copy below it is at best stale. */
export function standing(
  entry: Pick<Entry<unknown>, 'version' | 'readAtMs' | 'freshMs'>,
  { nowMs, maxAgeMs, floor }: { nowMs: number; maxAgeMs: number; floor: number },
): Standing {
  const ageMs = nowMs - entry.readAtMs
  if (ageMs > maxAgeMs) return 'expired'
  return ageMs < entry.freshMs && entry.version >= floor ? 'fresh' : 'stale'
}

/**
 * Whether `next` may take the place of `present`: it has seen at least as much. A load that began earlier and ends
 * later must not win.
 */
export function replaces(next: Entry<unknown>, present: Entry<unknown> | undefined): boolean {
  if (!present) return true
  if (next.version !== present.version) return next.version > present.version
  return next.readAtMs >= present.readAtMs
}

/**
 * One copy's time of being fresh: up to `spread` (a part, 0 to 1) less than `freshMs`. It moves expiries apart; it does
 * not prevent that many readers miss one key at once, which is what coalescing and the budget are for.
 */
export function spreadFreshMs({
  freshMs,
  spread,
  random,
}: {
  freshMs: number
  spread: number
  random: number
}) {
  return freshMs * (1 - spread * random)
}

/** How long a refresh that failed or was refused is not tried again: doubling, with full jitter in its upper half. */
export function refreshBackoffMs(failures: number, random: number): number {
  const ceilingMs = Math.min(REFRESH_MAX_MS, REFRESH_BASE_MS * 2 ** Math.min(failures - 1, 10))
  return ceilingMs * (0.5 + 0.5 * random)
}

/** A budget that is spent has room again within the second. */
const REFRESH_BASE_MS = 500
/** A failing origin is asked for a key by one instance this often, however many read it. */
const REFRESH_MAX_MS = 10_000

/** A key in its scope, as one text: no scope and key can be mistaken for another. */
export function addressOf(scope: string, key: string): string {
  return `${scope.length}:${scope}${key}`
}
