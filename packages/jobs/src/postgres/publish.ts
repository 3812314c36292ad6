import type { OwnTransaction, PostgresDatabase } from '@garner/db/postgres'
import { InvariantBroken, StoreUnavailable } from '../errors.ts'
import type { Claim } from '../job.ts'
import type { Ending, PublishAnswer, WriteAnswer } from '../store.ts'
import { lines, numberArray, orNone, orOne, textArray } from './arrays.ts'
import { Gather } from './gather.ts'
import * as sql from './sql.ts'
import { Interleaved, type Write, writeInTurn, writeTogether } from './writes.ts'

interface Publication {
  claim: Claim
  ending: Ending
  write: Write | undefined
  resolve: (answer: PublishAnswer) => void
  reject: (error: unknown) => void
}

interface Refusal {
  id: string
  answer: Exclude<PublishAnswer, 'published'> | 'epoch-went-down'
}

/** 500 ends in one statement take about 6 ms; more would keep the claims of those that wait for no gain. */
const PLAIN_MAX = 500
/**
 * 200 publications with writes: written together they hold their rows for 5 ms, in turn for 40; at 100 each job costs a
 * tenth more, at 500 a slow handler keeps the others of its batch waiting.
 */
const WITH_WRITES_MAX = 200

/**
 * The fence. The handler's writes and the job's end are one transaction: killed before its commit, neither is there, the
 * lease runs out and the job is tried again; killed after it, both are there, and a repeat meets `already-published`.
 *
 * Publications that arrive together share a commit. Those that write nothing of their own are one statement
 * (job_publish). Those that do run one after the other in a transaction that has locked their jobs before (those of one
 * statement each in one round trip, see writes.ts); several such transactions go on beside each other on connections of
 * their own. When a write fails, whatever it is, the transaction is undone and each publication is done again by itself,
 * so a failure stays its own.
 * Cut while committing: all of the batch are told StoreUnavailable; saying it again answers what came of it.
 */
export class Publisher {
  readonly #db: PostgresDatabase
  readonly #now: () => number | null
  readonly #plain: Gather<Publication>
  readonly #withWrites: Gather<Publication>
  /** Kinds whose writes have been seen to take more than one statement. */
  readonly #inTurn = new Set<string>()
  /** By job: what was said of it while something else is being published of it; that goes first. */
  readonly #behind = new Map<string, Publication[]>()

  constructor(db: PostgresDatabase, now: () => number | null, writesPerCommit: number = WITH_WRITES_MAX) {
    this.#db = db
    this.#now = now
    this.#plain = new Gather({
      take: (waiting) => Math.min(waiting.length, PLAIN_MAX),
      run: (batch) => this.#publishPlain(batch),
      atOnce: 2,
    })
    // Most of the connections stay free: handlers read, others submit.
    const atOnce = Math.max(1, Math.min(3, Math.floor(db.connections / 3)))
    this.#withWrites = new Gather({
      take: (waiting, running) => Math.min(writesPerCommit, Math.ceil(waiting.length / (atOnce - running))),
      run: (batch) => this.#publishWithWrites(batch),
      atOnce,
    })
  }

  publish(claim: Claim, ending: Ending, write: Write | undefined): Promise<PublishAnswer> {
    return new Promise((resolve, reject) => {
      const publication = { claim, ending, write, resolve, reject }
      const behind = this.#behind.get(claim.job.id)
      if (behind) behind.push(publication)
      else {
        this.#behind.set(claim.job.id, [])
        this.#begin(publication)
      }
    })
  }

  #begin(publication: Publication): void {
    const gather = publication.write ? this.#withWrites : this.#plain
    gather.add(publication)
  }

  async #publishPlain(batch: Publication[]): Promise<void> {
    try {
      const parameters = endingParameters(batch.map((one) => ({ one, answer: undefined })))
      const refused = await this.#db.autocommit.all<Refusal>(sql.PUBLISH, ...parameters, 0, this.#now())
      this.#tell(batch, new Map(refused.map((one) => [one.id, one.answer])))
    } catch (error) {
      this.#fail(batch, error)
    }
  }

  async #publishWithWrites(batch: Publication[]): Promise<void> {
    try {
      this.#tell(batch, await this.#db.transaction((tx) => this.#writeAll(tx, batch)))
    } catch (error) {
      if (error instanceof Interleaved) await this.#publishWithWrites(batch)
      else if (isAway(error) || (batch.length === 1 && !isLeaseOver(error))) this.#fail(batch, error)
      // Of one whose lease ran out while it wrote nothing is stored either: now it is refused and counted.
      else for (const one of batch) await this.#publishWithWrites([one])
    }
  }

  /** @param answers by job; what is not there is published */
  #tell(batch: readonly Publication[], answers: ReadonlyMap<string, Refusal['answer']>): void {
    for (const one of batch) {
      const { id } = one.claim.job
      const answer = answers.get(id) ?? 'published'
      if (answer !== 'epoch-went-down') one.resolve(answer)
      else one.reject(new InvariantBroken(`Job ${id} has an epoch below the claimed ${one.claim.epoch}.`))
      this.#next(id)
    }
  }

  #fail(batch: readonly Publication[], error: unknown): void {
    for (const one of batch) {
      one.reject(error)
      this.#next(one.claim.job.id)
    }
  }

  #next(id: string): void {
    const next = this.#behind.get(id)!.shift()
    if (next) this.#begin(next)
    else this.#behind.delete(id)
  }

  /** What each job is told that is not simply published. */
  async #writeAll(
    tx: OwnTransaction,
    batch: readonly Publication[],
  ): Promise<Map<string, Refusal['answer']>> {
    const inOrder = sorted(batch)
    const ids = textArray(inOrder.map((one) => one.claim.job.id))
    const epochs = numberArray(inOrder.map((one) => one.claim.epoch))
    const refused = await tx.all<Refusal>(sql.FENCE, ids, epochs, this.#now())
    const answers = new Map(refused.map((one) => [one.id, one.answer]))
    const allowed = batch.filter((one) => !answers.has(one.claim.job.id))
    const ended = [
      ...(await this.#write(tx, allowed, { isInTurn: true })),
      ...(await this.#write(tx, allowed, { isInTurn: false })),
    ]
    for (const { one, answer } of ended) if (answer) answers.set(one.claim.job.id, answer)
    if (ended.length > 0) await tx.last(sql.PUBLISH, ...endingParameters(ended), 1, this.#now())
    return answers
  }

  async #write(
    tx: OwnTransaction,
    allowed: readonly Publication[],
    { isInTurn }: { isInTurn: boolean },
  ): Promise<{ one: Publication; answer: WriteAnswer }[]> {
    const chosen = allowed.filter((one) => this.#inTurn.has(one.claim.job.kind) === isInTurn)
    const writes = chosen.map((one) => one.write!)
    try {
      const answers = await (isInTurn || writes.length < 2
        ? writeInTurn(tx, writes)
        : writeTogether(tx, writes))
      return chosen.map((one, index) => ({ one, answer: answers[index] }))
    } catch (error) {
      if (error instanceof Interleaved) this.#inTurn.add(chosen[error.index]!.claim.job.kind)
      throw error
    }
  }
}

/** The order that rows are locked in, everywhere. */
function sorted<One extends Pick<Publication, 'claim'>>(batch: readonly One[]): One[] {
  return [...batch].sort((a, b) => (a.claim.job.id < b.claim.job.id ? -1 : 1))
}

/** The first ones of job_publish: what becomes of each job. */
function endingParameters(ended: { one: Publication; answer: WriteAnswer }[]): string[] {
  const rows = sorted(
    ended.map(({ one, answer }) => ({ claim: one.claim, ...outcomeOf(one.ending, answer) })),
  )
  const results = rows.map((one) => one.result)
  return [
    textArray(rows.map((one) => one.claim.job.id)),
    numberArray(rows.map((one) => one.claim.epoch)),
    textArray(orOne(rows.map((one) => one.outcome))),
    textArray(orNone(rows.map((one) => one.reason))),
    results.every((one) => one === '') ? '' : lines(results),
    numberArray(orNone(rows.map((one) => one.runAtMs))),
  ]
}

interface OutcomeRow {
  /** The state it ends in, or how it goes back to `ready`. */
  outcome: string
  reason: string | null
  /** JSON; empty for none. */
  result: string
  runAtMs: number | null
}

function outcomeOf(ending: Ending, answer: WriteAnswer): OutcomeRow {
  const plain = { reason: null, result: '', runAtMs: null }
  if (answer === 'superseded') return { ...plain, outcome: 'superseded' }
  if (answer === 'discarded') return { ...plain, outcome: 'cancelled', reason: 'discarded' }
  if (ending.state !== 'ready') {
    const result = ending.result === undefined ? '' : JSON.stringify(ending.result)
    return { ...plain, outcome: ending.state, reason: 'reason' in ending ? ending.reason : null, result }
  }
  if (ending.outcome === 'released') return { ...plain, outcome: 'released' }
  const { reason, runAtMs, isUncounted } = ending
  return { ...plain, outcome: isUncounted ? 'uncounted' : 'retried', reason, runAtMs }
}

/** The database is away, or the commit was cut: that is everybody's trouble, and not one publication's. */
function isAway(error: unknown): boolean {
  return error instanceof StoreUnavailable && ['missing', 'closed', 'unanswered'].includes(error.reason)
}

/** What job_publish fails with when it was strict. */
function isLeaseOver(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'GJ001'
}
