/**
 * Calls that arrive together are done together: what is given while the batches before are under way, and within one
 * turn of the event loop, goes into one. `take` says how much of what waits (at least one) the next batch may hold.
 */
export class Gather<Item> {
  #waiting: Item[] = []
  #running = 0
  #isPlanned = false
  readonly #take: (waiting: readonly Item[], running: number) => number
  readonly #run: (batch: Item[]) => Promise<void>
  readonly #atOnce: number

  /** @param run must settle its items and not reject; `atOnce` batches run beside each other. */
  constructor({
    take,
    run,
    atOnce,
  }: {
    take: (waiting: readonly Item[], running: number) => number
    run: (batch: Item[]) => Promise<void>
    atOnce: number
  }) {
    this.#take = take
    this.#run = run
    this.#atOnce = atOnce
  }

  add(item: Item): void {
    this.#waiting.push(item)
    this.#plan()
  }

  #plan(): void {
    if (this.#isPlanned || this.#running >= this.#atOnce || this.#waiting.length === 0) return
    this.#isPlanned = true
    setImmediate(() => {
      this.#isPlanned = false
      this.#start()
    })
  }

  #start(): void {
    while (this.#running < this.#atOnce && this.#waiting.length > 0) {
      const count = this.#take(this.#waiting, this.#running)
      if (count === 0) return // once a batch has ended
      const batch = this.#waiting.slice(0, count)
      this.#waiting = this.#waiting.slice(count)
      this.#running++
      void this.#run(batch).finally(() => {
        this.#running--
        this.#plan()
      })
    }
  }
}
