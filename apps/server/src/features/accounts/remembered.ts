import { AgeClock } from '@garner/cache'
import type { Clock } from '@garner/db'
import type { ChangeCount } from '../../change-count.ts'

/**
 * Who someone is and what they may see, remembered for a short time (C1).
 *
 * Promises. What is answered was read from the database at most `maxAgeMs` before the question; using it does not make
 * it last longer, and with `maxAgeMs` 0 every question is a read. On SQLite it is asked again as soon as anyone, in any
 * process, has committed anything: whoever is taken out is refused by the very next request. Elsewhere what this process
 * itself changes is dropped at once (`forget`), what others change as soon as it is heard of (access-news.ts), and by its
 * age if it never is. A read that began before it was dropped is neither kept nor joined. A refusal is not remembered.
 * Cut here (the database gone or silent): nothing is answered from memory once it is too old; the person sees a 503.
 */
export interface RememberedOptions {
  changes: ChangeCount
  clock: Clock
  maxAgeMs: number
}

interface Known<Value> {
  value: Value
  /** When the database was asked, by the age clock. */
  askedAtMs: number
  standing: Standing
}

/** What has to be the same for something to be remembered still. */
interface Standing {
  /** The database's count of changes; null where only messages tell of them. */
  changes: number | null
  forgotten: number
}

/** About 5 MB; more people than one process serves within a few seconds. */
const KNOWN_MAX = 10_000

export class Remembered<Value> {
  readonly #options: RememberedOptions
  readonly #age: AgeClock
  readonly #known = new Map<string, Known<Value>>()
  readonly #asking = new Map<string, { standing: Standing; answer: Promise<Value | null> }>()
  #forgotten = 0

  constructor(options: RememberedOptions) {
    this.#options = options
    this.#age = new AgeClock(options.clock)
  }

  /** Errors: what `read` throws; StoreUnavailable when the database cannot be asked whether anything has changed. */
  async get(key: string, read: () => Promise<Value | null>): Promise<Value | null> {
    const { maxAgeMs } = this.#options
    if (maxAgeMs === 0) return read()
    const changes = await this.#options.changes.now()
    const standing = { changes, forgotten: this.#forgotten }
    const known = this.#known.get(key)
    const nowMs = this.#age.nowMs()
    if (known && isSame(known.standing, standing) && nowMs - known.askedAtMs <= maxAgeMs) return known.value
    const under = this.#asking.get(key)
    if (under && isSame(under.standing, standing)) return under.answer
    const answer = this.#ask(key, read, { standing, askedAtMs: nowMs })
    this.#asking.set(key, { standing, answer })
    try {
      return await answer
    } finally {
      if (this.#asking.get(key)?.answer === answer) this.#asking.delete(key)
    }
  }

  /** Somebody's rights have changed, or may have: everything is asked again. */
  forget(): void {
    this.#forgotten++
    this.#known.clear()
  }

  async #ask(
    key: string,
    read: () => Promise<Value | null>,
    { standing, askedAtMs }: { standing: Standing; askedAtMs: number },
  ): Promise<Value | null> {
    const value = await read()
    this.#known.delete(key)
    if (value === null) return value
    if (this.#known.size >= KNOWN_MAX) this.#known.delete(this.#known.keys().next().value!)
    this.#known.set(key, { value, askedAtMs, standing })
    return value
  }
}

function isSame(a: Standing, b: Standing): boolean {
  return a.changes === b.changes && a.forgotten === b.forgotten
}
