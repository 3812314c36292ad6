import type { Ask, Capacity, Lease, Parting } from './share.ts'

/**
 * Where the fleet's origin budget is kept: in the database that the budget protects, so that whoever cannot reach the
 * ledger could not read the origin either. Every ledger passes `describeBudgetLedger` (testing/budget-ledger.suite.ts);
 * `memory/ledger.ts` is this contract as code that can be stepped through.
 *
 * What all methods promise: calls on one budget take effect one after the other, whichever process they come from, and
 * are durable when they resolve. They throw StoreUnavailable when the database did not answer; a lease may then have
 * been recorded, which costs capacity until it runs out and never exceeds the budget. Time is the database's own.
 */
export interface BudgetLedger {
  /**
   * Says what the whole fleet may ask of the origin. Again with other numbers: they hold from then on; a smaller
   * capacity is reached once the shares that exceed it have been renewed. Whole numbers, 1 or more.
   */
  configure(budget: string, capacity: Capacity): Promise<void>

  /**
   * Lends a share for `ttlMs`, or 0 when nothing is free; the rules are `lend` of share.ts. The sum of what all holders
   * may use, or have used within the last second, never exceeds the capacity, also when calls race, holders pause,
   * answers are lost, and the database's clock is set. Errors: UnknownBudget, StoreUnavailable.
   */
  lease(budget: string, ask: Ask): Promise<Lease>

  /** Gives a share back before its end. Not necessary, and harmless when there is none. Errors: as `lease`. */
  release(budget: string, parting: Parting): Promise<void>

  /** Who holds what now, for operators, in the order of their holders; null when there is no such budget. */
  standing(budget: string): Promise<BudgetStanding | null>
}

export interface BudgetStanding {
  capacity: Capacity
  /** What counts as used now, live shares and those whose holders may just have used them. */
  reserved: { rate: number; concurrency: number }
  holders: { holder: string; incarnation: string; rate: number; concurrency: number; wantRate: number }[]
}

/**
 * Copies that all instances share, and the fill lease by which one of them at a time reads the origin for a key. No
 * authority: whatever is lost, refused or late here costs origin reads within the budget, and nothing else. Every store
 * passes `describeSharedEntries` (testing/shared-entries.suite.ts); `memory/entries.ts` is this contract as code.
 *
 * What all methods promise: each takes effect at one moment, whichever process it comes from. Ages and leases are
 * counted on the store's own clock. Errors: any; the caller takes them as "not there" (see shared-tier.ts), and so it
 * does an answer that takes too long.
 */
export interface SharedEntries {
  /**
   * Looks for a copy of at least `minVersion`. Unless it is younger than `freshMs`, of at least `floor`, and not known
   * to be outdated, tries to take the fill lease for `token`: whoever has it reads the origin and calls `store` or
   * `release`. A lease taken for less than `floor` is taken over: its load may have begun before that was written. Who
   * has the lease already is told so again.
   */
  look(address: string, request: LookRequest): Promise<Look>

  /**
   * Keeps a copy that was loaded under `token`'s lease, ends the lease and tells all. `overtaken`: nothing is kept,
   * because the lease is not that token's any more (it ran out, another took it, or the key was invalidated or forgotten
   * meanwhile), or a higher version is known.
   */
  store(address: string, copy: StoreRequest): Promise<'stored' | 'overtaken'>

  /** Ends `token`'s lease without a copy and tells all, so that another can try at once. */
  release(address: string, token: string): Promise<void>

  /**
   * Says that `version` exists: copies below it are outdated from now on, and leases taken for less are over. Tells all.
   * Remembered for `keepMs`, to be longer than any load and any replica's lag.
   */
  invalidate(address: string, request: { version: number; keepMs: number }): Promise<void>

  /** Removes the copy, ends its lease, remembers `version` as `invalidate` does. Tells all. */
  forget(address: string, request: { version: number; keepMs: number }): Promise<void>

  /** Calls `hear` for what any instance, this one too, has told. A hint: it may come late, twice or never. */
  listen(hear: (news: News) => void): Listening
}

export interface LookRequest {
  /** No copy below it is of any use. */
  minVersion: number
  /** What a load has to reach, `minVersion` or more. */
  floor: number
  freshMs: number
  token: string
  leaseMs: number
}

export interface Look {
  copy: { version: number; ageMs: number; bytes: Uint8Array } | null
  /** The newest version that was said to exist; 0 when none was. */
  floor: number
  /** Who fills: nobody has to; the token that looked; another, whose lease lasts for `leaseMs` yet. */
  fill: 'unneeded' | 'yours' | 'others'
  leaseMs: number
}

export interface StoreRequest {
  token: string
  version: number
  /** How old it is already. */
  ageMs: number
  /** For how long yet it may be served. */
  keepMs: number
  bytes: Uint8Array
}

export type News =
  | { kind: 'filled' | 'freed'; address: string }
  | { kind: 'outdated' | 'forgotten'; address: string; version: number }

export interface Listening {
  /** Whether news are coming through, as far as is known. */
  readonly isUp: boolean
  close(): Promise<void>
}
