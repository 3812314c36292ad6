/** One after the other for the same name, in this process; different names do not wait for each other. */
export class Turns {
  readonly #last = new Map<string, Promise<void>>()

  async take<T>(name: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(name)
    const { promise: mine, resolve: end } = Promise.withResolvers<void>()
    this.#last.set(name, mine)
    try {
      await before
      return await work()
    } finally {
      end()
      if (this.#last.get(name) === mine) this.#last.delete(name)
    }
  }
}
