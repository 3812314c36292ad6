import type { ManualClock } from '@garner/db'
import { expect } from 'vitest'
import type { Claim, Job } from '../../src/job.ts'
import type { ClaimRequest, Ending, JobStore, Submission, WriteAnswer } from '../../src/store.ts'
import type { StoreUnderTest } from './contract.ts'

/** A day: longer than any test lasts. */
const DEADLINE_MS = 86_400_000
export const LEASE_MS = 30_000
export const SUCCEEDED: Ending = { state: 'succeeded', result: { title: 'A title' } }

/** One opened store, with short words for what tests do over and over. */
export class Scene<Tx> {
  readonly store: JobStore<Tx>
  /** The same data through another connection; the same connection where a store has only one. */
  readonly second: JobStore<Tx>
  readonly hasSecond: boolean
  readonly clock: ManualClock
  readonly caller: StoreUnderTest<Tx>['caller']
  /** Lets what was asked of the second get as far as it can. */
  readonly letSecondGoOn: () => Promise<void>
  #count = 0

  constructor(opened: StoreUnderTest<Tx>) {
    this.store = opened.store
    this.second = opened.second ?? opened.store
    this.clock = opened.clock
    this.caller = opened.caller
    this.hasSecond = opened.second !== undefined
    this.letSecondGoOn = opened.letSecondGoOn ?? turns
  }

  /** Ids that sort by the time they were made, as `list` wants them. */
  id(): string {
    this.#count++
    return `job-${String(this.#count).padStart(6, '0')}`
  }

  submission(part: Partial<Submission> = {}): Submission {
    return {
      id: this.id(),
      kind: 'title',
      tenant: 'alice',
      payload: { url: 'https://example.org/' },
      deadlineMs: DEADLINE_MS,
      ...part,
    }
  }

  /** Submits one job in a transaction of its own. */
  async submit(part: Partial<Submission> = {}, store: JobStore<Tx> = this.store): Promise<Job> {
    const submission = this.submission(part)
    const { job } = await store.transaction((tx) => store.submit(tx, submission))
    return job
  }

  async submitMany(count: number, part: Partial<Submission> = {}): Promise<Job[]> {
    const submissions = Array.from({ length: count }, () => this.submission(part))
    const answers = await this.store.transaction((tx) => this.store.submitMany(tx, submissions))
    return answers.map((one) => one.job)
  }

  claim(part: Partial<ClaimRequest> = {}, store: JobStore<Tx> = this.store): Promise<Claim[]> {
    return store.claim({
      worker: 'worker-1',
      limit: 100,
      leaseMs: LEASE_MS,
      kinds: [{ kind: 'title' }],
      ...part,
    })
  }

  /** Claims exactly one job. */
  async claimOne(part: Partial<ClaimRequest> = {}): Promise<Claim> {
    const claims = await this.claim({ limit: 1, ...part })
    expect(claims).toHaveLength(1)
    return claims[0]!
  }

  /** One job submitted and claimed. */
  async claimed(part: Partial<Submission> = {}): Promise<Claim> {
    const { id, kind } = await this.submit(part)
    const claim = await this.claimOne({ kinds: [{ kind }] })
    expect(claim.job.id).toBe(id)
    return claim
  }

  /** One job brought to an end. */
  async ended(ending: Ending, part: Partial<Submission> = {}): Promise<Job> {
    const claim = await this.claimed(part)
    expect(await this.store.publish(claim, ending)).toBe('published')
    return this.job(claim.job.id)
  }

  /** A handler's writes that leave one row of the caller's. */
  writing(text: string, answer?: WriteAnswer): (tx: Tx) => Promise<WriteAnswer> {
    return async (tx) => {
      await this.caller.write(tx, text)
      return answer
    }
  }

  /** A handler's writes that must not be run. */
  forbidden(): (tx: Tx) => Promise<WriteAnswer> {
    return async () => {
      throw new Error('These writes must not be run.')
    }
  }

  async job(id: string): Promise<Job> {
    return (await this.store.get(id))!.job
  }

  async attempts(id: string) {
    return (await this.store.get(id))!.attempts
  }

  /** What the hint says to a worker that takes titles, or these kinds. */
  nextDue(kinds: string[] = ['title']): Promise<number | null> {
    return this.store.nextDueInMs(kinds)
  }

  /** A lifetime total; 0 when nothing was counted yet. */
  async total(name: string, kind = 'title'): Promise<number> {
    const all = await this.store.totals()
    return all.find((one) => one.kind === kind && one.name === name)?.value ?? 0
  }

  /** How many jobs there are, in all states. */
  async size(): Promise<number> {
    return (await this.store.counts()).reduce((sum, one) => sum + one.count, 0)
  }

  /** Runs a supersede, forget, repair… in a transaction of its own. */
  change<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.store.transaction(work)
  }
}

/** What tests compare claims by. */
export function idsOf(claims: { job: Pick<Job, 'id'> }[]): string[] {
  return claims.map((one) => one.job.id)
}

/** A point where one call waits until the test lets it go on. */
export class MeetingPoint {
  readonly #arrived = Promise.withResolvers<void>()
  readonly #open = Promise.withResolvers<void>()

  /** For the one who waits. */
  async arrive(): Promise<void> {
    this.#arrived.resolve()
    await this.#open.promise
  }

  /** Resolves once somebody is waiting. */
  get reached(): Promise<void> {
    return this.#arrived.promise
  }

  letGo(): void {
    this.#open.resolve()
  }
}

/** Thrown by tests to have a transaction rolled back. */
export class Rollback extends Error {}

/** Runs `work` in a transaction that is rolled back; answers what `work` answered. */
export async function rolledBack<Tx, T>(
  store: JobStore<Tx>,
  work: (tx: Tx) => Promise<T>,
): Promise<T | undefined> {
  let answer: T | undefined
  const attempt = store.transaction(async (tx) => {
    answer = await work(tx)
    throw new Rollback()
  })
  await expect(attempt).rejects.toBeInstanceOf(Rollback)
  return answer
}

/** A few turns of the event loop: a call that was just made gets as far as it can. */
export async function turns(count = 10): Promise<void> {
  for (let n = 0; n < count; n++) await new Promise(setImmediate)
}
