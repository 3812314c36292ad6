import type { Attempt } from './attempt.ts'
import type { Deadlines } from './deadlines.ts'
import { Retry } from './errors.ts'
import type { Json } from './job.ts'
import type { BatchHandler, JobKind, Outcome } from './kind.ts'

/** How the attempts of one step get to their handler: each by itself, or together. */
export interface Handling<Tx> {
  start(attempt: Attempt<Tx>): Promise<Outcome<Tx>>
  /** This attempt will not start: others must not wait for it. */
  skip(): void
}

export function handlingOf<Tx>(kind: JobKind<Tx>, count: number): Handling<Tx>[] {
  if (kind.handle) {
    const single: Handling<Tx> = { start: async (attempt) => kind.handle(attempt), skip() {} }
    return new Array<Handling<Tx>>(count).fill(single)
  }
  const handlings: Handling<Tx>[] = []
  for (let left = count; left > 0; left -= kind.batchMax) {
    const size = Math.min(left, kind.batchMax)
    handlings.push(...new Array<Handling<Tx>>(size).fill(new Batch(kind, size)))
  }
  return handlings
}

/**
 * The attempts that a batch handler gets in one call: it is made once each of them has either come or is known not
 * to. One attempt's late answer, lost lease or failed publication is nothing to the others.
 */
class Batch<Tx> implements Handling<Tx> {
  readonly #kind: BatchHandler<Tx, Json>
  readonly #outcomes = Promise.withResolvers<Map<Attempt<Tx>, Outcome<Tx> | Error>>()
  readonly #attempts: Attempt<Tx>[] = []
  #awaited: number

  constructor(kind: BatchHandler<Tx, Json>, size: number) {
    this.#kind = kind
    this.#awaited = size
  }

  async start(attempt: Attempt<Tx>): Promise<Outcome<Tx>> {
    this.#attempts.push(attempt)
    this.skip()
    const outcome = (await this.#outcomes.promise).get(attempt)
    if (outcome instanceof Error) throw outcome
    if (!outcome) throw new TypeError(`The batch handler gave no outcome for job ${attempt.job.id}.`)
    return outcome
  }

  skip(): void {
    this.#awaited--
    if (this.#awaited === 0 && this.#attempts.length > 0) this.#outcomes.resolve(this.#run())
  }

  /** One that was cut while it waited for the others has ended, and may be another worker's by now: not begun. */
  async #run(): Promise<Map<Attempt<Tx>, Outcome<Tx> | Error>> {
    const attempts = this.#attempts.filter((one) => !one.wasCut)
    const outcomes = attempts.length > 0 ? await this.#kind.handleBatch(attempts) : []
    const answered = attempts.slice(0, outcomes.length)
    return new Map(answered.map((one, place) => [one, outcomes[place]!]))
  }
}

/**
 * The handler, for at most `attemptMs`: one that never returns would keep its slot, its key and, through the
 * heartbeats, its lease for ever. Nor is it waited for once its lease is lost or the worker stops. What it answers
 * after that is thrown away.
 */
export function inTime<Tx>(
  deadlines: Deadlines,
  { attempt, attemptMs, handling }: { attempt: Attempt<Tx>; attemptMs: number; handling: Handling<Tx> },
): Promise<Outcome<Tx>> {
  return new Promise((resolve, reject) => {
    const done = deadlines.add(attemptMs, () => attempt.cut('late'))
    attempt.onCut = (why) => {
      done()
      reject(new Retry(why === 'late' ? 'attempt_timeout' : why))
    }
    handling.start(attempt).then(
      (outcome) => {
        done()
        resolve(outcome)
      },
      (error) => {
        done()
        reject(error)
      },
    )
  })
}
