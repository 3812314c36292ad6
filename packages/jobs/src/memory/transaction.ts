import { TransactionClosed } from '@garner/db'

/**
 * A transaction over plain maps. Whatever is written in it comes with the way back (`undo`); when the work fails,
 * the ways back are taken newest first, and it is as if nothing had been.
 */
export class MemoryTransaction {
  #undos: (() => void)[] = []
  #hooks: (() => void)[] = []
  #hasEnded = false

  /** Calls `then` once the transaction has committed; never if it is undone. */
  afterCommit(then: () => void): void {
    this.#assertOpen()
    this.#hooks.push(then)
  }

  /** Registers how to take back a write that the caller has just made to something of its own. */
  undo(restore: () => void): void {
    this.#assertOpen()
    this.#undos.push(restore)
  }

  /** Runs a part of the work; when it throws, its writes alone are taken back, and the caller may go on. */
  allOrNothing<T>(work: () => T): T {
    const before = this.#undos.length
    try {
      return work()
    } catch (error) {
      for (const restore of this.#undos.splice(before).reverse()) restore()
      throw error
    }
  }

  /** Runs `work`; undoes its writes and passes its rejection on when it fails. */
  static async run<T>(work: (tx: MemoryTransaction) => Promise<T>): Promise<T> {
    const tx = new MemoryTransaction()
    try {
      const value = await work(tx)
      tx.#hasEnded = true
      for (const hook of tx.#hooks) callHook(hook)
      return value
    } catch (error) {
      tx.#hasEnded = true
      for (const restore of tx.#undos.reverse()) restore()
      throw error
    }
  }

  #assertOpen(): void {
    if (this.#hasEnded) throw new TransactionClosed('it has ended')
  }
}

/** What has committed stays so: a hook that fails is worth a warning. */
function callHook(hook: () => void): void {
  try {
    hook()
  } catch (error) {
    process.emitWarning(error as Error)
  }
}

/** One after the other, in the order of asking: nobody sees what another has not finished. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve()

  take<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work)
    this.#last = turn.catch(() => {})
    return turn
  }
}

/** A map whose writes are undone with their transaction. Rows are replaced, never changed in place. */
export class Table<Row> {
  readonly #rows = new Map<string, Row>()

  get(key: string): Row | undefined {
    return this.#rows.get(key)
  }

  /** Every row, in no order; a copy, so rows may be written meanwhile. */
  all(): Row[] {
    return [...this.#rows.values()]
  }

  set(tx: MemoryTransaction, key: string, row: Row): void {
    this.#registerUndo(tx, key)
    this.#rows.set(key, row)
  }

  delete(tx: MemoryTransaction, key: string): void {
    this.#registerUndo(tx, key)
    this.#rows.delete(key)
  }

  #registerUndo(tx: MemoryTransaction, key: string): void {
    const before = this.#rows.get(key)
    tx.undo(() => {
      if (before === undefined) this.#rows.delete(key)
      else this.#rows.set(key, before)
    })
  }
}
