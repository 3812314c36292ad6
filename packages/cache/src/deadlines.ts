import type { Clock } from '@garner/db'

export interface Deadline {
  readonly atMs: number
  /** null once it was called or is not wanted any more. */
  due: (() => void) | null
}

/**
 * Many deadlines on one sleeper. Readers come by the thousand and nearly all leave before their deadline, so setting
 * one has to cost next to nothing: it is put at the end of the list of its own duration, which is thereby in order,
 * and one that is cancelled stays there, empty, until its time has come.
 */
export class Deadlines {
  readonly #clock: Clock
  readonly #lists = new Map<number, { items: Deadline[]; first: number }>()
  #sleep: AbortController | null = null
  #wakesAtMs = Number.POSITIVE_INFINITY

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Calls `due` in `ms` milliseconds, unless the deadline's `due` is set to null before. */
  in(ms: number, due: () => void): Deadline {
    // Whole milliseconds keep the number of lists small.
    const afterMs = Math.max(0, Math.ceil(ms))
    const deadline: Deadline = { atMs: this.#clock.monotonicMs() + afterMs, due }
    let list = this.#lists.get(afterMs)
    if (!list) {
      list = { items: [], first: 0 }
      this.#lists.set(afterMs, list)
    }
    list.items.push(deadline)
    if (deadline.atMs < this.#wakesAtMs) this.#sleepUntil(deadline.atMs)
    return deadline
  }

  /** Calls all that are left, now, and lets go of the sleeper, which would keep the process alive. */
  close(): void {
    this.#sleep?.abort('closed')
    this.#sleep = null
    this.#wakesAtMs = Number.POSITIVE_INFINITY
    const left = [...this.#lists.values()].flatMap(({ items }) => items)
    this.#lists.clear()
    for (const deadline of left) {
      const { due } = deadline
      deadline.due = null
      due?.()
    }
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
    const due: (() => void)[] = []
    for (const [afterMs, list] of this.#lists) {
      const { items } = list
      while (list.first < items.length) {
        const head = items[list.first]!
        if (head.due && head.atMs > nowMs) break
        if (head.due) due.push(head.due)
        head.due = null
        list.first++
      }
      if (list.first === items.length) this.#lists.delete(afterMs)
      else {
        nextAtMs = Math.min(nextAtMs, items[list.first]!.atMs)
        if (list.first > 256) list.items = items.slice(list.first)
        if (list.first > 256) list.first = 0
      }
    }
    if (nextAtMs < Number.POSITIVE_INFINITY) this.#sleepUntil(nextAtMs)
    for (const call of due) call()
  }
}
