import type { Clock } from '@garner/db'

/** One moment at which something is called, unless it was dropped before. */
export class Deadline {
  readonly atMs: number
  #due: (() => void) | null
  #before: Deadline = this
  #after: Deadline = this

  constructor(atMs: number, due: () => void) {
    this.atMs = atMs
    this.#due = due
  }

  /** It was called or dropped: whoever comes second, the answer or the deadline, sees that it is second. */
  get isOver(): boolean {
    return this.#due === null
  }

  /** It is not wanted any more. Leaves nothing behind: readers come by the thousand and nearly all are answered in time. */
  drop(): void {
    this.#due = null
    this.#before.#after = this.#after
    this.#after.#before = this.#before
    this.#before = this
    this.#after = this
  }

  /** Now rather than at its time; nothing if it is over. */
  call(): void {
    const due = this.#due
    this.drop()
    due?.()
  }

  /** The one that follows in the ring that `head` begins, or null. */
  after(head: Deadline): Deadline | null {
    return this.#after === head ? null : this.#after
  }

  /** As the head of a ring: puts `deadline` at its end. */
  append(deadline: Deadline): void {
    deadline.#before = this.#before
    deadline.#after = this
    this.#before.#after = deadline
    this.#before = deadline
  }
}

/**
 * Many deadlines on one sleeper. Setting and dropping one costs next to nothing: it is put at the end of the ring of its
 * own duration, which is thereby in order.
 */
export class Deadlines {
  readonly #clock: Clock
  readonly #rings = new Map<number, Deadline>()
  #sleep: AbortController | null = null
  #wakesAtMs = Number.POSITIVE_INFINITY

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Calls `due` in `ms` milliseconds, unless the deadline is dropped before. */
  in(ms: number, due: () => void): Deadline {
    // Whole milliseconds keep the number of rings small.
    const afterMs = Math.max(0, Math.ceil(ms))
    const deadline = new Deadline(this.#clock.monotonicMs() + afterMs, due)
    let ring = this.#rings.get(afterMs)
    if (!ring) {
      ring = new Deadline(0, () => {})
      this.#rings.set(afterMs, ring)
    }
    ring.append(deadline)
    if (deadline.atMs < this.#wakesAtMs) this.#sleepUntil(deadline.atMs)
    return deadline
  }

  /** Calls all that are left, now, and lets go of the sleeper, which would keep the process alive. */
  close(): void {
    this.#sleep?.abort('closed')
    this.#sleep = null
    this.#wakesAtMs = Number.POSITIVE_INFINITY
    const rings = [...this.#rings.values()]
    this.#rings.clear()
    for (const ring of rings) for (let one = ring.after(ring); one; one = ring.after(ring)) one.call()
  }

  #sleepUntil(atMs: number): void {
    this.#sleep?.abort('sooner')
    const sleep = new AbortController()
    this.#sleep = sleep
    this.#wakesAtMs = atMs
    void this.#clock.sleep(Math.max(0, atMs - this.#clock.monotonicMs()), sleep.signal).then(() => {
      if (this.#sleep === sleep) this.#wake()
    })
  }

  #wake(): void {
    this.#sleep = null
    this.#wakesAtMs = Number.POSITIVE_INFINITY
    const nowMs = this.#clock.monotonicMs()
    let nextAtMs = Number.POSITIVE_INFINITY
    const due: Deadline[] = []
    for (const [afterMs, ring] of this.#rings) {
      for (let one = ring.after(ring); one; one = one.after(ring)) {
        if (one.atMs > nowMs) {
          nextAtMs = Math.min(nextAtMs, one.atMs)
          break
        }
        due.push(one)
      }
      if (!ring.after(ring)) this.#rings.delete(afterMs)
    }
    if (nextAtMs < Number.POSITIVE_INFINITY) this.#sleepUntil(nextAtMs)
    for (const one of due) one.call()
  }
}
