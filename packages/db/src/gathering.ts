import type { Database, Transaction } from './database.ts'
import { StoreUnavailable } from './errors.ts'

/** An answer that is an error of its own call's making: nothing of that call was written. */
export class Refused {
  readonly error: unknown
  constructor(error: unknown) {
    this.error = error
  }
}

/**
 * A call's own fault in the middle of a batch, whatever it looks like: the batch is undone for it, and nobody else is to
 * suffer.
 */
export class OwnFault extends Error {
  constructor(cause: unknown) {
    super('One call of a batch has failed by its own fault.', { cause })
    this.name = 'OwnFault'
  }
}

/**
 * Makes all of a batch in one transaction, with an answer for each call in their order. May run twice; only its last run
 * counts.
 */
export type Write<Call, Answer> = (tx: Transaction, calls: Call[]) => Promise<(Answer | Refused)[]>

interface Waiting<Call, Answer> {
  call: Call
  resolve(answer: Answer): void
  reject(error: unknown): void
}

/** 512, as many as the transactions of one commit: more would hold the write lock for longer than 10 ms. */
const BATCH_MAX = 512

/**
 * Calls that come together become one transaction: what each would read and write by itself is read and written once for
 * all of them. Those of one turn of the event loop come together, and those that come while the transaction before is
 * committed; one that comes alone waits for nobody. On PostgreSQL, where transactions run side by side and one with many
 * rows would only make others wait for it, each call stays by itself.
 *
 * Promises what a transaction of its own promises: a call is answered after the commit, and its failure is its own. One
 * that is refused has written nothing. If something else goes wrong, the batch is undone and each is made again in a
 * transaction of its own. If the store could not work, everybody is told so and nothing of anyone is there.
 */
export class Gathering<Call, Answer> {
  readonly #db: Database
  readonly #write: Write<Call, Answer>
  #waiting: Waiting<Call, Answer>[] = []
  /** Whether a transaction has been asked for that will take what is waiting when its turn comes. */
  #isAsked = false

  constructor(db: Database, write: Write<Call, Answer>) {
    this.#db = db
    this.#write = write
  }

  /** Errors: StoreUnavailable, and what is this call's own. */
  make(call: Call): Promise<Answer> {
    if (this.#db.dialect === 'postgres') return this.#alone(call)
    return new Promise((resolve, reject) => {
      this.#waiting.push({ call, resolve, reject })
      this.#ask()
    })
  }

  #ask(): void {
    if (this.#isAsked || this.#waiting.length === 0) return
    this.#isAsked = true
    void this.#together()
  }

  async #together(): Promise<void> {
    let batch: Waiting<Call, Answer>[] | undefined
    try {
      const answers = await this.#db.transaction((tx) => {
        batch ??= this.#take()
        return this.#write(tx, batch.map(callOf))
      })
      for (const [n, { resolve, reject }] of batch!.entries()) {
        const answer = answers[n]!
        if (answer instanceof Refused) reject(answer.error)
        else resolve(answer)
      }
    } catch (error) {
      batch ??= this.#take()
      const isOwn = batch.length > 1 && !(error instanceof StoreUnavailable)
      for (const { call, resolve, reject } of batch) {
        if (isOwn) this.#alone(call).then(resolve, reject)
        else reject(meant(error))
      }
    }
  }

  async #alone(call: Call): Promise<Answer> {
    try {
      return await this.#db.transaction(async (tx) => {
        const [answer] = await this.#write(tx, [call])
        // Thrown inside the transaction: nothing of it is stored, whatever it had read or locked.
        if (answer instanceof Refused) throw answer.error
        return answer!
      })
    } catch (error) {
      throw meant(error)
    }
  }

  #take(): Waiting<Call, Answer>[] {
    const batch = this.#waiting.splice(0, BATCH_MAX)
    this.#isAsked = false
    this.#ask()
    return batch
  }
}

function callOf<Call>({ call }: { call: Call }): Call {
  return call
}

function meant(error: unknown): unknown {
  return error instanceof OwnFault ? error.cause : error
}
