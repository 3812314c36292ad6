/** 1,000: a listener that is this far behind is told so instead of filling the memory. */
const BUFFER_MAX = 1_000

/**
 * Values for whoever iterates, in this process: each iterator gets all that are said while it exists. One that is
 * slow loses the oldest. A hint as any other: what has happened is in the store.
 */
export class Events<T> implements AsyncIterable<T> {
  readonly #listeners = new Set<(value: T) => void>()
  #isClosed = false
  readonly #closers = new Set<() => void>()

  say(value: T): void {
    for (const listener of this.#listeners) listener(value)
  }

  /** Ends all iterations, those to come included. */
  close(): void {
    this.#isClosed = true
    for (const close of this.#closers) close()
  }

  [Symbol.asyncIterator](): AsyncIterator<T> {
    const waiting: T[] = []
    let wake: (() => void) | null = null
    let isOver = this.#isClosed
    const listener = (value: T) => {
      if (waiting.push(value) > BUFFER_MAX) waiting.shift()
      wake?.()
    }
    const end = () => {
      isOver = true
      this.#listeners.delete(listener)
      this.#closers.delete(end)
      wake?.()
    }
    if (!isOver) {
      this.#listeners.add(listener)
      this.#closers.add(end)
    }
    return {
      async next(): Promise<IteratorResult<T>> {
        while (waiting.length === 0 && !isOver) {
          await new Promise<void>((resolve) => {
            wake = resolve
          })
          wake = null
        }
        if (waiting.length > 0) return { done: false, value: waiting.shift()! }
        return { done: true, value: undefined }
      },
      async return(): Promise<IteratorResult<T>> {
        end()
        return { done: true, value: undefined }
      },
    }
  }
}
