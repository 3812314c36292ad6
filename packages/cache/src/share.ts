/**
 * The rules by which the fleet's origin budget is lent, as pure functions on one ledger's content. No clock, no I/O:
 * every store loads a ledger, asks here what becomes of it, and writes that back in one transaction.
 *
 * Promises. At any moment the sum of what all holders may use, or have used within the last second, is within the
 * capacity: `reserved` counts every grant that its holder may still act on, not only the newest.
 *
 * Assumes. Each call sees all calls before it (one locked row per budget). The database's clock may be set forward or
 * back at any time; it is believed for at most `STEP_MS` between two calls. A holder stops `marginMs` before its
 * lease ends, counted from before it asked (held-share.ts).
 *
 * Cut at each seam. The answer is lost: the ledger counts a grant that nobody uses until it runs out: safe. The holder
 * dies or cannot reach the ledger: its share comes back after `TTL_MS + GUARD_MS + WINDOW_MS`. It leaves in peace:
 * after `GUARD_MS + WINDOW_MS`. The database fails over to a copy that misses the last grants: nothing is lent until
 * the missed ones have surely run out (`learningUntilMs`).
 */

/** How long a grant may be acted on, from before it was asked for. Short, since a dead holder's part waits for it. */
export const TTL_MS = 3_000
/** What is counted: reads in any second. */
export const WINDOW_MS = 1_000
/**
 * The most that one step of the database's clock can make the ledger's time run ahead; reservations outlast leases by
 * it. 250: more strands a leaver's share for longer, and ledgers that are asked less often than this run slow (which
 * only strands, too). Who is owed something asks this often, so that then the ledger's time keeps up.
 */
export const STEP_MS = 250
export const GUARD_MS = STEP_MS
/** Part of the capacity that demand is not given: what newcomers and idle holders start with, and own saves read by. */
const KEPT = 0.1
/** What a holder without demand keeps, so that its first miss needs no round trip. */
const FLOOR = 1

export interface Capacity {
  /** Origin reads in any second, all instances together. */
  rate: number
  /** Origin reads under way at once, all instances together. */
  concurrency: number
  /** The longest that one origin read can be under way, whatever becomes of its caller; ms. */
  loadMaxMs: number
}

/** The two things that are lent. */
type Lent = 'rate' | 'concurrency'

/** One answer that the ledger gave, for as long as its holder may act on it or has just done so. */
export interface Grant {
  /** Counts up over all grants of a ledger; a later grant has a higher one. */
  generation: number
  /** One life of one holder: a restart is a new one and starts with nothing. */
  incarnation: string
  /** For people. */
  holder: string
  rate: number
  concurrency: number
  wantRate: number
  wantConcurrency: number
  /** By the ledger's time, as the two below: when its holder has stopped acting on it. */
  expiresAtMs: number
  /** Until when all of `rate` counts as used. */
  rateUntilMs: number
  /** Until when reads that it began may be under way. */
  inFlightUntilMs: number
}

export interface Ledger extends Capacity {
  /** The ledger's own time: runs at most as fast as the database's clock, never back, whatever that clock does. */
  timeMs: number
  /** The database's clock when it was last looked at, Unix ms. */
  seenAtMs: number
  /** The newest generation given. */
  generation: number
  /** Which history the database is in; another one after a failover or a restored backup. */
  timeline: string
  /** Nothing is lent before this, by the ledger's time. */
  learningUntilMs: number
  grants: Grant[]
}

/** What the database says of itself. */
export interface DatabaseNow {
  /** Its clock, Unix ms. */
  nowMs: number
  /** Which history it is in; another one after a failover or a restored backup. */
  timeline: string
}

/** What a holder says when it asks. */
export interface Ask {
  incarnation: string
  holder: string
  /** The newest grant that it acts on and whose limits it is within; 0 when it has none. Earlier ones are over. */
  generation: number
  /** Reads in its sliding window now: begun and not ended, or ended within the last second. */
  recent: number
  /** Reads per second that it could use; 0 when nobody asks it anything. */
  wantRate: number
  /** Of these, reads of one's own saves that wait now. */
  wantOwn: number
  wantConcurrency: number
}

export interface Lease {
  generation: number
  /** Reads in any second, 0 or more. */
  rate: number
  /** Part of `rate` that only reads of one's own saves may use. */
  ownRate: number
  concurrency: number
  /** To be counted by the holder's own clock, from before it asked. */
  ttlMs: number
  /** More is due to it as soon as others have given it back: it is worth asking again soon. */
  isOwed: boolean
}

export interface Parting {
  incarnation: string
  recent: number
  inFlight: number
}

/** A ledger that has lent nothing yet. */
export function emptyLedger(capacity: Capacity, now: DatabaseNow): Ledger {
  return {
    ...capacity,
    timeMs: 0,
    seenAtMs: now.nowMs,
    generation: 0,
    timeline: now.timeline,
    learningUntilMs: 0,
    grants: [],
  }
}

/** Lends a share for `TTL_MS`. Answers the ledger as it is then, and what the holder is told. */
export function lend(before: Ledger, ask: Ask, now: DatabaseNow): { ledger: Ledger; lease: Lease } {
  const ledger = advanced(before, now)
  const { timeMs } = ledger
  const grants = confirmed(ledger, ask)
  const isLearning = timeMs < ledger.learningUntilMs
  const rate = part(grants, ask, { of: 'rate', capacity: ledger.rate, timeMs })
  const concurrency = part(grants, ask, { of: 'concurrency', capacity: ledger.concurrency, timeMs })
  const expiresAtMs = timeMs + TTL_MS
  const grant: Grant = {
    generation: ledger.generation + 1,
    incarnation: ask.incarnation,
    holder: ask.holder,
    rate: isLearning ? 0 : rate.given,
    concurrency: isLearning ? 0 : concurrency.given,
    wantRate: ask.wantRate,
    wantConcurrency: ask.wantConcurrency,
    expiresAtMs,
    rateUntilMs: expiresAtMs + GUARD_MS + WINDOW_MS,
    inFlightUntilMs: expiresAtMs + GUARD_MS + WINDOW_MS + ledger.loadMaxMs,
  }
  return {
    ledger: { ...ledger, generation: grant.generation, grants: [...grants, grant] },
    lease: {
      generation: grant.generation,
      rate: grant.rate,
      ownRate: Math.max(0, grant.rate - rate.ordinary),
      concurrency: grant.concurrency,
      ttlMs: TTL_MS,
      isOwed: isLearning || rate.isOwed || concurrency.isOwed,
    },
  }
}

/** Takes back what a holder that stops had; what it has just used stays reserved for a window. */
export function partWith(before: Ledger, parting: Parting, now: DatabaseNow): Ledger {
  const ledger = advanced(before, now)
  const grants = ledger.grants.map((grant) => {
    if (grant.incarnation !== parting.incarnation) return grant
    const rateUntilMs = Math.min(grant.rateUntilMs, ledger.timeMs + GUARD_MS + WINDOW_MS)
    return {
      ...grant,
      rate: Math.min(grant.rate, parting.recent),
      concurrency: Math.min(grant.concurrency, parting.inFlight),
      expiresAtMs: Math.min(grant.expiresAtMs, ledger.timeMs),
      rateUntilMs,
      inFlightUntilMs: parting.inFlight > 0 ? grant.inFlightUntilMs : rateUntilMs,
    }
  })
  return { ...ledger, grants: grants.filter((one) => isReserved(one, ledger.timeMs)) }
}

/** What counts against the capacity at `timeMs`: of each holder the largest grant that it may still be using. */
export function reserved(grants: Grant[], of: Lent, timeMs: number): number {
  const most = new Map<string, number>()
  for (const grant of grants) {
    const held = of === 'rate' ? heldRate(grant, timeMs) : heldConcurrency(grant, timeMs)
    most.set(grant.incarnation, Math.max(held, most.get(grant.incarnation) ?? 0))
  }
  return [...most.values()].reduce((sum, one) => sum + one, 0)
}

/** Of each holder with a live lease the newest grant, in the order of their generations. */
export function liveGrants(grants: Grant[], timeMs: number): Grant[] {
  const newest = new Map<string, Grant>()
  for (const grant of grants) {
    const known = newest.get(grant.incarnation)
    if (!known || known.generation < grant.generation) newest.set(grant.incarnation, grant)
  }
  return [...newest.values()]
    .filter((one) => timeMs < one.expiresAtMs)
    .sort((a, b) => a.generation - b.generation)
}

/**
 * Divides `whole` among wants so that nobody gets less than another who wants no less (max-min). Whole numbers; of
 * what does not divide evenly the later ones of equal wants get one more, so the order has to be the same for all.
 */
export function divide(whole: number, wants: number[]): number[] {
  const ascending = wants.map((want, at) => ({ want, at })).sort((a, b) => a.want - b.want || a.at - b.at)
  const parts = new Array<number>(wants.length).fill(0)
  let left = whole
  ascending.forEach(({ want, at }, n) => {
    const given = Math.min(want, Math.floor(left / (ascending.length - n)))
    parts[at] = given
    left -= given
  })
  return parts
}

/**
 * The ledger at the database's instant `nowMs`. A clock that was set forward moves it on by `STEP_MS` at most, one that
 * was set back not at all; in another history it lends nothing until whatever is missing has run out.
 */
function advanced(ledger: Ledger, now: DatabaseNow): Ledger {
  const timeMs = ledger.timeMs + Math.min(Math.max(0, now.nowMs - ledger.seenAtMs), STEP_MS)
  const isElsewhere = now.timeline !== ledger.timeline
  return {
    ...ledger,
    timeMs,
    seenAtMs: now.nowMs,
    timeline: now.timeline,
    learningUntilMs: isElsewhere
      ? timeMs + TTL_MS + GUARD_MS + WINDOW_MS + ledger.loadMaxMs
      : ledger.learningUntilMs,
    grants: ledger.grants.filter((one) => isReserved(one, timeMs)),
  }
}

/**
 * The grants after a holder has said which it acts on. All of its earlier ones are over: what remains of them is what
 * it has read within the last second. Remembering only the last earlier one is not enough: two can shrink in one window.
 */
function confirmed(ledger: Ledger, ask: Ask): Grant[] {
  const { timeMs, grants } = ledger
  return grants
    .map((grant) => {
      if (grant.incarnation !== ask.incarnation || grant.generation >= ask.generation) return grant
      const untilMs = Math.min(grant.rateUntilMs, timeMs + GUARD_MS + WINDOW_MS)
      return {
        ...grant,
        rate: Math.min(grant.rate, ask.recent),
        concurrency: 0,
        expiresAtMs: Math.min(grant.expiresAtMs, timeMs),
        rateUntilMs: untilMs,
        inFlightUntilMs: untilMs,
      }
    })
    .filter((one) => isReserved(one, timeMs))
}

/** What of one capacity the asking holder is given now, and whether it is owed more. */
function part(
  grants: Grant[],
  ask: Ask,
  { of, capacity, timeMs }: { of: Lent; capacity: number; timeMs: number },
): { given: number; ordinary: number; isOwed: boolean } {
  const wantOf = (one: Grant | Ask) => (of === 'rate' ? one.wantRate : one.wantConcurrency)
  const kept = Math.floor(capacity * KEPT)
  const live = liveGrants(grants, timeMs)
  const mine = live.find((one) => one.incarnation === ask.incarnation)
  const others = live
    .filter((one) => one.incarnation !== ask.incarnation)
    .sort((a, b) => (a.incarnation < b.incarnation ? -1 : 1))
  const wants = others.map(wantOf)
  const wanted = wants.reduce((sum, one) => sum + one, 0)

  // A holder is not made smaller for a small fall in demand while nobody misses it: it would cost a call to confirm.
  const held = mine?.[of] ?? 0
  const want = wanted + held <= capacity - kept && isNear(held, wantOf(ask)) ? held : wantOf(ask)
  const place = others.filter((one) => one.incarnation < ask.incarnation).length
  const fair = divide(capacity - kept, wants.toSpliced(place, 0, want))[place]!

  const idle = wants.filter((one) => one === 0).length
  const ordinary = Math.max(fair, idle < kept ? FLOOR : 0)
  const own = of === 'rate' ? Math.min(ask.wantOwn, Math.floor(kept / 2)) : 0
  const notMine = grants.filter((one) => one.incarnation !== ask.incarnation)
  const free = Math.max(0, capacity - reserved(notMine, of, timeMs))
  // Of what is left over a newcomer takes half, so that those who come with it find something, too.
  const within = mine || others.length === 0 ? free : Math.ceil(free / 2)
  return { given: Math.min(ordinary + own, within), ordinary, isOwed: within < fair }
}

function isNear(held: number, want: number): boolean {
  return held > want && held <= want * 1.25 + 1 && want > 0
}

function isReserved(grant: Grant, timeMs: number): boolean {
  return timeMs < grant.expiresAtMs || heldRate(grant, timeMs) > 0 || heldConcurrency(grant, timeMs) > 0
}

/** After its own window a grant's rate can still be met by reads that were under way when it ended. */
function heldRate(grant: Grant, timeMs: number): number {
  if (timeMs < grant.rateUntilMs) return grant.rate
  return timeMs < grant.inFlightUntilMs ? Math.min(grant.rate, grant.concurrency) : 0
}

function heldConcurrency(grant: Grant, timeMs: number): number {
  return timeMs < grant.inFlightUntilMs ? grant.concurrency : 0
}
