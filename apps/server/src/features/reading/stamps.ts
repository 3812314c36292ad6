import type { Queryable } from '@garner/db'
import type { ChangeCount } from '../../change-count.ts'
import { stampOf, standingOf } from './lists.ts'

/**
 * Where lists stand, as far as this process knows without asking anyone far away.
 *
 * On SQLite it knows: the file's count of changes says whether anyone has committed anything, and only then the list's
 * row is read, some microseconds in all. So what another process has saved is known by the very next read. On
 * PostgreSQL that would be a round trip per read: there it knows what this process has committed and what it was told;
 * who saved elsewhere says so with their `X-Garner-Min-Version`.
 * Cut here (the database cannot be asked): what was known; copies still end by their age.
 */
export interface Latest {
  stamp: number
  /** The list stands at `stamp` and nowhere else, by what was committed when this was asked. */
  isExact: boolean
}

interface Known {
  stamp: number
  /** The count of changes at which `stamp` was read; null when it was not. */
  changes: number | null
}

/** About 2 MB. A list that is dropped here is asked about again, or learnt of again. */
const KNOWN_MAX = 10_000

export class Stamps {
  readonly #read: Queryable
  readonly #changes: ChangeCount
  readonly #known = new Map<string, Known>()

  constructor({ read, changes }: { read: Queryable; changes: ChangeCount }) {
    this.#read = read
    this.#changes = changes
  }

  /** A commit, here or elsewhere, has brought `group` to `stamp`. */
  heard(group: string, stamp: number): void {
    const known = this.#known.get(group)
    if (!known) this.#keep(group, { stamp, changes: null })
    else if (stamp > known.stamp) Object.assign(known, { stamp, changes: null })
  }

  /** Where it stood when this process last heard of it; 0 when it never has. */
  known(group: string): number {
    return this.#known.get(group)?.stamp ?? 0
  }

  async latest(group: string): Promise<Latest> {
    const known = this.#known.get(group)
    const asked = this.#changes.now()
    if (asked === null) return { stamp: known?.stamp ?? 0, isExact: false }
    try {
      const changes = await asked
      if (known && known.changes === changes) return { stamp: known.stamp, isExact: true }
      const stamp = stampOf(await standingOf(this.#read, group))
      this.#keep(group, { stamp, changes })
      return { stamp, isExact: true }
    } catch {
      return { stamp: known?.stamp ?? 0, isExact: false }
    }
  }

  #keep(group: string, known: Known): void {
    this.#known.delete(group)
    if (this.#known.size >= KNOWN_MAX) this.#known.delete(this.#known.keys().next().value!)
    this.#known.set(group, known)
  }
}
