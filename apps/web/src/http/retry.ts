/** No wait grows past this by itself; a longer Retry-After is still honoured. */
const DOUBLING_STOPS_MS = 30_000
/** Spread, so that everyone who was refused together does not return together. */
const SPREAD_MS = 1_000

/**
 * How long to wait before asking again, in ms: Retry-After (1 s when there is none) doubled at every further refusal
 * up to 30 s, plus up to 1 s at random. `failures` counts from 1; `random` is in [0, 1).
 */
export function retryDelayMs(after: {
  failures: number
  retryAfterMs: number | null
  random: number
}): number {
  const first = after.retryAfterMs ?? 1_000
  const doubled = Math.max(first, 250) * 2 ** Math.min(Math.max(after.failures, 1) - 1, 16)
  return Math.max(first, Math.min(doubled, DOUBLING_STOPS_MS)) + Math.floor(after.random * SPREAD_MS)
}
