import type { Deadline } from './deadlines.ts'
import type { Entry } from './entry.ts'
import type { Need, Ticket } from './gate.ts'
import type { Rank } from './held-share.ts'

/** How a reader's wait ended. `hit` and `stale`: from a copy; `origin`: it began the load; `coalesced`: another did. */
export type Result = 'hit' | 'coalesced' | 'origin' | 'stale'

/** One call of `get` that waits for a fill. */
export interface Reader<Body> {
  minVersion: number
  rank: Rank
  /** Began the fill, rather than joining it. */
  isStarter: boolean
  /** When it gives up, by the monotonic clock. */
  untilMs: number
  deadline: Deadline | null
  /** A copy that is known to be outdated and would do if nothing better comes in time. */
  fallback: Entry<Body> | null
  settle: (entry: Entry<Body>, result: Result) => void
  fail: (error: unknown) => void
}

/**
 * One filling of one key in this process, with everyone who waits for it.
 *
 * Promises. Its load, once begun, answers for versions up to `floor` as they were then: a reader who needs a later one
 * must not join it. Before it has begun its floor can still be raised, so it can take in anyone. A reader that gives up
 * leaves the others and the load alone. What fails reaches everyone who waits at that moment, and nobody later.
 */
export class Fill<Body> {
  readonly address: string
  /** The version that its load has to reach. */
  floor: number
  hasBegun = false
  /** The key was forgotten since the load began: nobody else may join, and nothing is kept of it. */
  isOvertaken = false
  /** How often the key was forgotten since this began to look: what was found before that is not taken over. */
  forgotten = 0
  /** How often there was news of the key: what came while a look was under way is in nobody's answer. */
  heard = 0
  /** It renews a copy that is served meanwhile: worth doing though nobody waits. */
  isRefresh: boolean
  /** Whoever came has been answered; who comes now is too late to be. */
  #isOver = false
  #ticket: Ticket | null = null
  readonly #readers = new Set<Reader<Body>>()

  constructor(address: string, floor: number, starter: Reader<Body> | null) {
    this.address = address
    this.floor = floor
    this.isRefresh = starter === null
    if (starter) this.#readers.add(starter)
  }

  get hasReaders(): boolean {
    return this.#readers.size > 0
  }

  /** The least version that any of its readers has a use for. */
  get minVersion(): number {
    let least = this.floor
    for (const { minVersion } of this.#readers) least = Math.min(least, minVersion)
    return least
  }

  /** Whether a reader that needs `floor` may wait for this one. */
  takes(floor: number): boolean {
    return !this.#isOver && !this.isOvertaken && (!this.hasBegun || this.floor >= floor)
  }

  join(reader: Reader<Body>, floor: number): void {
    this.floor = Math.max(this.floor, floor)
    this.#readers.add(reader)
    this.#ticket?.extend(this.need())
  }

  leave(reader: Reader<Body>): void {
    this.#readers.delete(reader)
  }

  /** What the budget is asked for: the best rank and the longest wait of those who have nothing to fall back on. */
  need(): Need {
    let rank: Rank = 'refresh'
    let untilMs = Number.NEGATIVE_INFINITY
    for (const reader of this.#readers) {
      if (reader.fallback) continue
      if (rank !== 'own') rank = reader.rank
      untilMs = Math.max(untilMs, reader.untilMs)
    }
    return { rank, untilMs }
  }

  /** While it waits at the gate, those who join can still make it more urgent. */
  async admittedBy(ticket: Ticket): Promise<void> {
    this.#ticket = ticket
    try {
      await ticket.admitted
    } finally {
      this.#ticket = null
    }
  }

  /** A copy from the shared cache. Outdated ones are kept in case nothing better comes. */
  offer(entry: Entry<Body>, standing: 'fresh' | 'stale' | 'outdated'): void {
    if (standing === 'stale') this.isRefresh = true
    for (const reader of this.#readers) {
      if (entry.version < reader.minVersion) continue
      if (standing === 'outdated') reader.fallback = entry
      else if (standing === 'stale') this.#settle(reader, entry, 'stale')
      else this.#settle(reader, entry, reader.isStarter ? 'hit' : 'coalesced')
    }
    this.#ticket?.extend(this.need())
  }

  /** What the load brought; those for whom it is not enough fail with `behind`. */
  loaded(entry: Entry<Body>, behind: (reader: Reader<Body>) => Error): void {
    this.#isOver = true
    for (const reader of this.#readers) {
      if (entry.version < reader.minVersion) this.#fail(reader, behind(reader))
      else this.#settle(reader, entry, reader.isStarter ? 'origin' : 'coalesced')
    }
  }

  /** It is over; those who still wait fail, or take what they have to fall back on. */
  fail(error: unknown): void {
    this.#isOver = true
    for (const reader of this.#readers) this.#fail(reader, error)
  }

  /** Ends it if nobody waits any more; answers whether it did. From then on nobody can join. */
  endIfUnneeded(): boolean {
    if (!this.hasReaders) this.#isOver = true
    return this.#isOver
  }

  /** One reader's time is over. */
  giveUp(reader: Reader<Body>, error: Error): void {
    this.#fail(reader, error)
  }

  #fail(reader: Reader<Body>, error: unknown): void {
    this.#readers.delete(reader)
    if (reader.fallback) reader.settle(reader.fallback, 'stale')
    else reader.fail(error)
  }

  #settle(reader: Reader<Body>, entry: Entry<Body>, result: Result): void {
    this.#readers.delete(reader)
    reader.settle(entry, result)
  }
}

/**
 * The second load of a key, for readers whose saves the first cannot have seen, may overlap with it; more would be a
 * load per save on a list that everybody is saving to.
 */
const LOADS_PER_KEY = 2

/** All fills of this process: per key at most one that has not begun, and some that have. */
export class Fills<Body> {
  readonly #byAddress = new Map<string, Fill<Body>[]>()
  readonly #turns = new Map<string, (() => void)[]>()

  has(address: string): boolean {
    return this.#byAddress.has(address)
  }

  /** The one that a reader who needs `floor` may wait for. */
  find(address: string, floor: number): Fill<Body> | undefined {
    return this.#byAddress.get(address)?.findLast((one) => one.takes(floor))
  }

  start(fill: Fill<Body>): void {
    const known = this.#byAddress.get(fill.address)
    if (known) known.push(fill)
    else this.#byAddress.set(fill.address, [fill])
  }

  /** Resolves when so few loads of the key are under way that this one may begin. */
  async turn(fill: Fill<Body>): Promise<void> {
    while (this.#loading(fill.address) >= LOADS_PER_KEY)
      await new Promise<void>((resolve) => {
        const turns = this.#turns.get(fill.address) ?? []
        this.#turns.set(fill.address, [...turns, resolve])
      })
  }

  /** Nothing that has been read of the key so far may be kept or joined. */
  overtake(address: string): void {
    for (const fill of this.#byAddress.get(address) ?? []) {
      fill.forgotten++
      if (fill.hasBegun) fill.isOvertaken = true
    }
  }

  /** There is news of the key. */
  hear(address: string): void {
    for (const fill of this.#byAddress.get(address) ?? []) fill.heard++
  }

  end(fill: Fill<Body>): void {
    const fills = this.#byAddress.get(fill.address) ?? []
    if (fills.length > 1) fills.splice(fills.indexOf(fill), 1)
    else this.#byAddress.delete(fill.address)
    const turns = this.#turns.get(fill.address)
    this.#turns.delete(fill.address)
    for (const go of turns ?? []) go()
  }

  #loading(address: string): number {
    return this.#byAddress.get(address)?.filter((one) => one.hasBegun).length ?? 0
  }
}
