import type { Clock, Database, Queryable } from '@garner/db'

/** What a client is told: look again. Data comes from the normal reads. */
export interface Change {
  event: 'bookmark' | 'list' | 'group' | 'account'
  data: Record<string, string | number>
}

export interface Watcher {
  userId: string
  tell: (change: Change) => void
}

/** Who somebody is and where they belong, as the database says it now. */
export interface Standing {
  status: string
  groups: string[]
}

interface List {
  version: number
  marksVersion: number
}

interface Seen {
  standing: Standing
  lists: Map<string, List>
}

/** 250 ms: a change made by another process (a worker's title) is seen well before a person would look again. */
const LOOK_MS = 250
/** More changed links than this at once are told as "the list has changed". */
const SINGLE_MAX = 20

/**
 * Tells watchers what has changed, from the database alone: the lists' version numbers are the truth, whoever
 * wrote them, in whichever process. `hint()` after a commit only makes it look sooner (J2). While nobody watches
 * it does not look at all; while nothing was committed a look costs one pragma.
 */
export class Changes {
  readonly #db: Database
  readonly #clock: Clock
  readonly #standingOf: (query: Queryable, userId: string) => Promise<Standing>
  readonly #watchers = new Map<Watcher, Seen>()
  #looking: Promise<void> | null = null
  #wake = new AbortController()
  #counter = -1
  #isHinted = false

  constructor({
    db,
    clock,
    standingOf,
  }: {
    db: Database
    clock: Clock
    standingOf: (query: Queryable, userId: string) => Promise<Standing>
  }) {
    this.#db = db
    this.#clock = clock
    this.#standingOf = standingOf
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
    for (const [watcher, seen] of [...this.#watchers]) {
      const now = await this.#see(watcher.userId)
      if (!this.#watchers.has(watcher)) continue
      for (const change of await this.#differences(seen, now)) watcher.tell(change)
      this.#watchers.set(watcher, now)
    }
    this.#counter = counter
  }

  async #see(userId: string): Promise<Seen> {
    const standing = await this.#standingOf(this.#db.read, userId)
    const rows = await this.#db.read.all<List & { group_id: string }>(
      `SELECT group_id, version, marks_version AS "marksVersion" FROM lists
       WHERE group_id IN (SELECT value FROM json_each(?))`,
      JSON.stringify(standing.groups),
    )
    return { standing, lists: new Map(rows.map((row) => [row.group_id, row])) }
  }

  async #differences(before: Seen, now: Seen): Promise<Change[]> {
    const changes: Change[] = []
    if (before.standing.status !== now.standing.status) {
      changes.push({ event: 'account', data: { status: now.standing.status } })
    }
    const groups = new Set([...before.standing.groups, ...now.standing.groups])
    for (const group of groups) {
      const isMember = now.standing.groups.includes(group)
      if (isMember !== before.standing.groups.includes(group))
        changes.push({ event: 'group', data: { group } })
      const list = now.lists.get(group)
      if (isMember && list) changes.push(...(await this.#inList(group, before.lists.get(group), list)))
    }
    return changes
  }

  async #inList(group: string, before: List | undefined, now: List): Promise<Change[]> {
    if (before?.version === now.version && before.marksVersion === now.marksVersion) return []
    const rows = await this.#db.read.all<{ id: string; version: number }>(
      `SELECT id, version FROM bookmarks WHERE group_id = ? AND list_version > ? ORDER BY list_version LIMIT ?`,
      ...[group, before?.version ?? 0, SINGLE_MAX + 1],
    )
    const list: Change = { event: 'list', data: { group, version: now.version } }
    if (rows.length > SINGLE_MAX) return [list]
    return [
      ...rows.map(({ id, version }): Change => ({ event: 'bookmark', data: { group, id, version } })),
      list,
    ]
  }
}
