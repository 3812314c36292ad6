import type { PostgresDatabase } from '@garner/db/postgres'
import { StoreUnavailable } from '../errors.ts'
import type { Submission, Submitted } from '../store.ts'
import { Gather } from './gather.ts'
import { type Acceptance, PART_JOBS, submitAll, submitInParts, submitInTurn } from './submit.ts'

interface Waiting {
  submissions: Submission[]
  resolve: (answers: Submitted[]) => void
  reject: (error: unknown) => void
}

/** 1,000: at about 10 µs a job the next batch waits for 10 ms, ten times what it costs to commit. */
const BATCH_JOBS = 1_000

/**
 * Submissions in transactions of the store's own. Calls that arrive while the one before is under way share a commit,
 * and a call alone is one statement and one round trip.
 *
 * A batch is sent as if it were one call. When something in it is refused, nothing of it is stored; then its calls are
 * made one by one, in one transaction: each is accepted or refused by itself, and they still share the commit.
 * Cut while committing: every call of the batch is told StoreUnavailable (`unanswered`), and it may be stored. Saying it
 * again under an operation id answers the same jobs; without one it makes new jobs beside them.
 */
export class Acceptor {
  readonly #db: PostgresDatabase
  readonly #acceptance: Acceptance
  readonly #gather: Gather<Waiting>

  constructor(db: PostgresDatabase, acceptance: Acceptance) {
    this.#db = db
    this.#acceptance = acceptance
    this.#gather = new Gather({ take: batchOf, run: (batch) => this.#run(batch), atOnce: 1 })
  }

  accept(submissions: Submission[]): Promise<Submitted[]> {
    return new Promise((resolve, reject) => this.#gather.add({ submissions, resolve, reject }))
  }

  async #run(batch: Waiting[]): Promise<void> {
    const [first, ...others] = batch
    try {
      const all = others.length === 0 ? first!.submissions : batch.flatMap((one) => one.submissions)
      const answers = await this.#store(all)
      let from = 0
      for (const { submissions, resolve } of batch) {
        resolve(answers.slice(from, from + submissions.length))
        from += submissions.length
      }
    } catch (error) {
      if (others.length === 0 || error instanceof StoreUnavailable) {
        for (const { reject } of batch) reject(error)
      } else await this.#runEach(batch)
    }
  }

  #store(all: readonly Submission[]): Promise<Submitted[]> {
    if (all.length <= PART_JOBS) return submitAll(this.#db.autocommit, all, this.#acceptance)
    return this.#db.transaction((tx) => submitInParts(tx, all, this.#acceptance))
  }

  /** In their order: all statements are sent at once on one connection. */
  async #runEach(batch: Waiting[]): Promise<void> {
    try {
      const answers = await this.#db.transaction((tx) =>
        Promise.allSettled(batch.map((one) => submitInTurn(tx, one.submissions, this.#acceptance))),
      )
      answers.forEach((one, index) => {
        const { resolve, reject } = batch[index]!
        if (one.status === 'fulfilled') resolve(one.value)
        else reject(one.reason)
      })
    } catch (error) {
      if (error instanceof StoreUnavailable) for (const { reject } of batch) reject(error)
      // One of them cannot be stored at all (an id that is taken): then each is its own transaction.
      else for (const one of batch) await this.#run([one])
    }
  }
}

/** As many calls as make up a batch; none of them with an operation that another has, since that one may be refused. */
function batchOf(waiting: readonly Waiting[]): number {
  if (waiting.length === 1) return 1
  const operations = new Set<string>()
  let jobs = 0
  for (const [index, { submissions }] of waiting.entries()) {
    const own = new Set<string>()
    for (const { tenant, operationId } of submissions) {
      if (operationId !== undefined) own.add(JSON.stringify([tenant, operationId]))
    }
    jobs += submissions.length
    if (index > 0 && (jobs > BATCH_JOBS || [...own].some((one) => operations.has(one)))) return index
    for (const one of own) operations.add(one)
  }
  return waiting.length
}
