/**
 * What each person has written last to each list through this process (C5): their reads here never show less. Other
 * processes learn it from the `X-Garner-Min-Version` that the client sends, or from the database.
 */
export class OwnWrites {
  readonly #last = new Map<string, { stamp: number; isSeen: boolean }>()

  note(userId: string, group: string, stamp: number): void {
    const key = `${userId} ${group}`
    const known = this.#last.get(key)
    if (known && known.stamp >= stamp) return
    this.#last.delete(key)
    if (this.#last.size >= LAST_MAX) this.#last.delete(this.#last.keys().next().value!)
    this.#last.set(key, { stamp, isSeen: false })
  }

  /** The least that this person may be shown; 0 when they have written nothing lately. */
  floor(userId: string, group: string): number {
    return this.#last.get(`${userId} ${group}`)?.stamp ?? 0
  }

  /** Whether they have not seen it yet: then it comes first of all. */
  isAwaited(userId: string, group: string): boolean {
    return this.#last.get(`${userId} ${group}`)?.isSeen === false
  }

  seen(userId: string, group: string, stamp: number): void {
    const known = this.#last.get(`${userId} ${group}`)
    if (known && stamp >= known.stamp) known.isSeen = true
  }
}

/** About 2 MB. It takes as many writes to push one out, and by then every copy is newer or too old to be shown. */
const LAST_MAX = 10_000
