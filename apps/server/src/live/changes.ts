import type { Clock, Database, Queryable } from '@garner/db'

/** What a client is told: look again. Data comes from the normal reads. */
export interface Change {
  event: string
  data: Record<string, string | number>
}

export interface Watcher {
  userId: string
  tell: (change: Change) => void
}

/** Who somebody is and where they belong, as the database says it now. */
export interface Standing {
  userId: string
  status: string
  groups: string[]
}

/** What one feature shows a person: looked at as numbers that count changes, and compared. */
export interface Watched<Seen> {
  see(query: Queryable, standing: Standing): Promise<Seen>
  differences(query: Queryable, before: Seen, now: Seen, standing: Standing): Promise<Change[]>
}

interface Sight {
  standing: Standing
  seen: unknown[]
}

/** 250 ms: a change made by another process (a worker's title) is seen well before a person would look again. */
const LOOK_MS = 250

/**
 * Tells watchers what has changed, from the database alone: the version numbers there are the truth, whoever
 * wrote them, in whichever process. `hint()` after a commit only makes it look sooner (J2). While nobody watches
 * it does not look at all; while nothing was committed a look costs one pragma.
 */
export class Changes {
  readonly #db: Database
  readonly #clock: Clock
  readonly #standingOf: (query: Queryable, userId: string) => Promise<Standing>
  readonly #watched: Watched<unknown>[]
  readonly #watchers = new Map<Watcher, Sight>()
  #looking: Promise<void> | null = null
  #wake = new AbortController()
  #counter = -1
  #isHinted = false

  constructor({
    db,
    clock,
    standingOf,
    watched,
  }: {
    db: Database
    clock: Clock
    standingOf: (query: Queryable, userId: string) => Promise<Standing>
    // biome-ignore lint/suspicious/noExplicitAny: each compares what it has seen itself, and nothing else.
    watched: Watched<any>[]
  }) {
    this.#db = db
    this.#clock = clock
    this.#standingOf = standingOf
    this.#watched = watched
  }

  get watchers(): number {
    return this.#watchers.size
  }

  /** Starts telling `watcher`; the function that is answered ends it. Errors: StoreUnavailable. */
  async watch(watcher: Watcher): Promise<() => void> {
    this.#watchers.set(watcher, await this.#see(watcher.userId))
    this.#looking ??= this.#loop()
    return () => {
      this.#watchers.delete(watcher)
      if (this.#watchers.size === 0) this.#wake.abort()
    }
  }

  /** Something was committed here: look soon. */
  hint(): void {
    if (this.#isHinted || this.#watchers.size === 0) return
    this.#isHinted = true
    this.#wake.abort('hint')
  }

  async #loop(): Promise<void> {
    while (this.#watchers.size > 0) {
      if (this.#isHinted) {
        // A burst of commits is told once: the next look covers them all.
        await this.#clock.sleep(10)
      }
      this.#isHinted = false
      this.#wake = new AbortController()
      await this.lookOnce().catch(() => {})
      if (!this.#isHinted && this.#watchers.size > 0) await this.#clock.sleep(LOOK_MS, this.#wake.signal)
    }
    this.#looking = null
  }

  /** One look: compares what each watcher has seen with what is there. Errors: StoreUnavailable. */
  async lookOnce(): Promise<void> {
    const counter = await this.#db.changeCounter()
    if (counter === this.#counter) return
    for (const [watcher, before] of [...this.#watchers]) {
      const now = await this.#see(watcher.userId)
      if (!this.#watchers.has(watcher)) continue
      for (const change of await this.#differences(before, now)) watcher.tell(change)
      this.#watchers.set(watcher, now)
    }
    this.#counter = counter
  }

  async #see(userId: string): Promise<Sight> {
    const standing = await this.#standingOf(this.#db.read, userId)
    const seen: unknown[] = []
    for (const one of this.#watched) seen.push(await one.see(this.#db.read, standing))
    return { standing, seen }
  }

  async #differences(before: Sight, now: Sight): Promise<Change[]> {
    const changes: Change[] = []
    if (before.standing.status !== now.standing.status) {
      changes.push({ event: 'account', data: { status: now.standing.status } })
    }
    const groups = new Set([...before.standing.groups, ...now.standing.groups])
    for (const group of groups) {
      if (now.standing.groups.includes(group) !== before.standing.groups.includes(group)) {
        changes.push({ event: 'group', data: { group } })
      }
    }
    for (const [n, one] of this.#watched.entries()) {
      changes.push(...(await one.differences(this.#db.read, before.seen[n], now.seen[n], now.standing)))
    }
    return changes
  }
}
