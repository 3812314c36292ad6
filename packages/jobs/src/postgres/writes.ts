import type { OwnTransaction, PostgresTransaction } from '@garner/db/postgres'
import type { WriteAnswer } from '../store.ts'

export type Write = (tx: PostgresTransaction) => Promise<WriteAnswer>

/** One after the other: each is over before the next begins. */
export async function writeInTurn(tx: PostgresTransaction, writes: readonly Write[]): Promise<WriteAnswer[]> {
  const answers: WriteAnswer[] = []
  for (const write of writes) answers.push(await write(tx))
  return answers
}

/** A write that asked for more when a later one had asked already: they would have been interleaved. */
export class Interleaved extends Error {
  readonly code = 'INTERLEAVED'
  /** Which of the writes. */
  readonly index: number
  constructor(index: number) {
    super('A write has more than one statement; those of this batch are done again one after the other.')
    this.name = 'Interleaved'
    this.index = index
  }
}

/**
 * The same for writes of one statement each, which need not wait for each other's answer: a hundred of them are one
 * round trip. They run in their order, and each sees what it would see if they were done in turn. Nobody says
 * beforehand how many statements a write has, so it is tried, and one that would be interleaved with another is refused.
 * Errors: Interleaved, even if the write has caught it; the first error of a write. The transaction is then to be undone.
 */
export async function writeTogether(tx: OwnTransaction, writes: readonly Write[]): Promise<WriteAnswer[]> {
  const line = new Line(tx)
  const send = tx.hold()
  const answers: Promise<WriteAnswer>[] = []
  try {
    for (const [index, write] of writes.entries()) {
      const { place, hasAsked } = line.place(index)
      const answer = write(place)
      answer.catch(() => {}) // looked at below
      answers.push(answer)
      // Most ask at once. What one that does not is waiting for may need that the others' are sent.
      if (hasAsked()) continue
      await Promise.race([line.asked(index), answer.catch(() => {}), nextTurn()])
      if (!hasAsked()) send()
      await Promise.race([line.asked(index), answer.catch(() => {})])
    }
  } finally {
    send()
  }
  const ends = await Promise.allSettled(answers)
  if (line.refusal) throw line.refusal
  return ends.map((one) => {
    if (one.status === 'rejected') throw one.reason
    return one.value
  })
}

/** Who has asked for a statement: in the order of the writes, and none again once a later one has. */
class Line {
  refusal: Interleaved | null = null
  readonly #tx: OwnTransaction
  #newest = -1
  #waiting: { index: number; resolve: () => void } | null = null

  constructor(tx: OwnTransaction) {
    this.#tx = tx
  }

  /** Resolves when the write has asked for its first statement. One at a time is waited for: the newest. */
  asked(index: number): Promise<void> {
    return new Promise((resolve) => {
      if (this.#newest >= index) resolve()
      else this.#waiting = { index, resolve }
    })
  }

  /** The transaction as one of the writes may use it. */
  place(index: number): { place: PostgresTransaction; hasAsked: () => boolean } {
    const tx = this.#tx
    const ask = <T>(send: () => Promise<T>): Promise<T> => {
      if (this.#newest > index) {
        this.refusal ??= new Interleaved(index)
        return Promise.reject(this.refusal)
      }
      this.#newest = index
      if (this.#waiting?.index === index) this.#waiting.resolve()
      return send()
    }
    const place: PostgresTransaction = {
      get client() {
        const query = (...of: Parameters<typeof tx.client.query>) => ask(async () => tx.client.query(...of))
        return Object.create(tx.client, { query: { value: query } }) as typeof tx.client
      },
      all: (sql, ...params) => ask(() => tx.all(sql, ...params)),
      get: (sql, ...params) => ask(() => tx.get(sql, ...params)),
      run: (sql, ...params) => ask(() => tx.run(sql, ...params)),
      takeTurn: (name) => ask(() => tx.takeTurn(name)),
      afterCommit: (then) => tx.afterCommit(then),
    }
    return { place, hasAsked: () => this.#newest >= index }
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
