import { type Database, StoreUnavailable, type Transaction } from '@garner/db'

/** An answer that is an error of its own call's making: nothing of that call was written. */
export class Refused {
  readonly error: unknown
  constructor(error: unknown) {
    this.error = error
  }
}

/** A call's own fault in the middle of a batch: the batch is undone for it, and nobody else is to suffer. */
export class OwnFault extends Error {
  constructor(cause: unknown) {
    super('One call of a batch has failed by its own fault.', { cause })
    this.name = 'OwnFault'
  }
}

interface Waiting<Call, Answer> {
  call: Call
  resolve(answer: Answer): void
  reject(error: unknown): void
}

/** 512, as many as the transactions of one commit: more would hold the write lock for longer than 10 ms. */
const BATCH_MAX = 512

/**
 * Calls that come together become one transaction: those of one turn of the event loop, and those that come while
 * the transaction before is committed. One that comes alone waits for nobody. `write` makes all of a batch, answers
 * in the order of its calls, and may run twice.
 *
 * If the store could not work, everybody is told so and nothing of anyone is there. If one call fails by itself, the
 * batch is undone and each call is made again in a transaction of its own, so that the failure stays its own.
 */
export class Gathering<Call, Answer> {
  readonly #db: Database
  readonly #write: (tx: Transaction, calls: Call[]) => Promise<(Answer | Refused)[]>
  #waiting: Waiting<Call, Answer>[] = []
  /** Whether a transaction has been asked for that will take what is waiting when its turn comes. */
  #isAsked = false

  constructor(db: Database, write: (tx: Transaction, calls: Call[]) => Promise<(Answer | Refused)[]>) {
    this.#db = db
    this.#write = write
  }

  /** Errors: StoreUnavailable, and what is this call's own. */
  make(call: Call): Promise<Answer> {
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
      for (const [n, one] of batch!.entries()) settle(one, answers[n]!)
    } catch (error) {
      batch ??= this.#take()
      const isOwn = batch.length > 1 && !(error instanceof StoreUnavailable)
      for (const one of batch) {
        if (isOwn) void this.#alone(one)
        else one.reject(error instanceof OwnFault ? error.cause : error)
      }
    }
  }

  async #alone(one: Waiting<Call, Answer>): Promise<void> {
    try {
      const [answer] = await this.#db.transaction((tx) => this.#write(tx, [one.call]))
      settle(one, answer!)
    } catch (error) {
      one.reject(error instanceof OwnFault ? error.cause : error)
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

function settle<Call, Answer>(one: Waiting<Call, Answer>, answer: Answer | Refused): void {
  if (answer instanceof Refused) one.reject(answer.error)
  else one.resolve(answer)
}
