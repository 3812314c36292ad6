import type {
  Claim,
  ClaimRequest,
  Ending,
  JobStore,
  Json,
  Listening,
  PublishAnswer,
  Retention,
  Schedule,
  StepChange,
  StepOpening,
  Submission,
  Submitted,
  WriteAnswer,
} from '@garner/jobs'
import { OperationConflict, QueueFull } from '@garner/jobs'
import type { MemoryTransaction } from '@garner/jobs/memory'
import type { Happening } from '../checks/happening.ts'
import type { Life } from '../world/machine.ts'
import type { Server } from './server.ts'
import { SimTransaction } from './sim-transaction.ts'
import { Wire } from './wire.ts'

type Store = JobStore<SimTransaction>
type Claimed = Pick<Claim, 'job' | 'epoch'>

/**
 * The store as one life of a process has it: the contract, with the wire in between. Each call says what it has done
 * (Happening) at the server, at its commit, whether or not the answer gets through.
 */
export class Connection implements Store {
  readonly #server: Server
  readonly #wire: Wire
  readonly #by: string

  constructor(server: Server, life: Life) {
    this.#server = server
    this.#wire = new Wire(server.world, life, server.mutation?.hears)
    this.#by = life.name
  }

  get #store(): JobStore<MemoryTransaction> {
    return this.#server.store
  }

  transaction<T>(work: (tx: SimTransaction) => Promise<T>): Promise<T> {
    return this.#call('transaction', () => {
      let tx: SimTransaction | undefined
      return this.#server.turn(
        () =>
          this.#store.transaction((memory) => {
            tx = this.#opened(memory)
            return this.#wire.hold(tx, work)
          }),
        (outcome) => ('value' in outcome ? this.#committed(tx!) : []),
      )
    })
  }

  submit(tx: SimTransaction, submission: Submission): Promise<Submitted> {
    return this.#submitting(tx, 'submit', [submission], async (memory) => [
      await this.#store.submit(memory, submission),
    ]).then(([one]) => one!)
  }

  submitMany(tx: SimTransaction, submissions: Submission[]): Promise<Submitted[]> {
    return this.#submitting(tx, 'submitMany', submissions, (memory) =>
      this.#store.submitMany(memory, submissions),
    )
  }

  accept(submissions: Submission[]): Promise<Submitted[]> {
    return this.#once(
      'accept',
      () => this.#store.accept(submissions),
      (answers) => this.#submitted(submissions, answers, false),
      (error) => this.#refused(submissions, error),
    )
  }

  claim(request: ClaimRequest): Promise<Claim[]> {
    return this.#once(
      'claim',
      () => this.#store.claim(request),
      (claims) => [{ what: 'claimed', by: this.#by, claims, request }],
    )
  }

  nextDueInMs(kinds: string[]): Promise<number | null> {
    return this.#once('nextDueInMs', () => this.#store.nextDueInMs(kinds))
  }

  async heartbeat(claims: Claimed[], leaseMs: number): Promise<('extended' | 'lost')[]> {
    const heard = await this.#once(
      'heartbeat',
      () => this.#store.heartbeat(claims, leaseMs),
      (answers) => {
        const beats = claims.map((claim, n) => ({ claim, answer: answers[n]! }))
        return [{ what: 'heartbeat', by: this.#by, beats, leaseMs }]
      },
    )
    const refused = claims.filter((_, n) => heard[n] === 'lost')
    if (refused.length > 0) this.#server.world.see({ what: 'refused', by: this.#by, claims: refused })
    return heard
  }

  publish(
    claim: Claim,
    ending: Ending,
    write?: (tx: SimTransaction) => Promise<WriteAnswer>,
  ): Promise<PublishAnswer> {
    const held = write && ((memory: MemoryTransaction) => this.#wire.hold(this.#opened(memory), write))
    const done = (answer: PublishAnswer | null): Happening[] => [
      { what: 'published', by: this.#by, claim, ending, answer },
    ]
    return this.#once(
      'publish',
      () => this.#store.publish(claim, ending, held),
      done,
      () => done(null),
    )
  }

  progress(claim: Claimed, progress: Json): Promise<'stored' | 'lost'> {
    return this.#once(
      'progress',
      () => this.#store.progress(claim, progress),
      (answer) => [{ what: 'progress', by: this.#by, claim, answer }],
    )
  }

  openStep(claim: Claimed, opening: StepOpening) {
    return this.#once(
      'openStep',
      () => this.#store.openStep(claim, opening),
      (standing) => [{ what: 'opened', by: this.#by, claim, opening, standing }],
    )
  }

  recordStep(claim: Claimed, step: string, change: StepChange): Promise<'stored' | 'lost'> {
    return this.#once(
      'recordStep',
      () => this.#store.recordStep(claim, step, change),
      (answer) => [{ what: 'recorded', by: this.#by, claim, step, change, answer }],
    )
  }

  supersede(tx: SimTransaction, { subject, version }: { subject: string; version: number }): Promise<number> {
    return this.#change(
      tx,
      'supersede',
      (memory) => this.#store.supersede(memory, { subject, version }),
      (count) => ({ what: 'superseded', subject, version, count }),
    )
  }

  forget(tx: SimTransaction, subject: string): Promise<number> {
    return this.#change(
      tx,
      'forget',
      (memory) => this.#store.forget(memory, subject),
      (count) => ({ what: 'forgotten', subject, count }),
    )
  }

  forgetTenant(tx: SimTransaction, tenant: string): Promise<number> {
    return this.#change(
      tx,
      'forgetTenant',
      (memory) => this.#store.forgetTenant(memory, tenant),
      (count) => ({ what: 'forgotten', tenant, count }),
    )
  }

  repair(tx: SimTransaction, id: string, { isBounded = false }: { isBounded?: boolean } = {}) {
    return this.#change(
      tx,
      'repair',
      (memory) => this.#store.repair(memory, id, { isBounded }),
      (job) => ({ what: 'repaired', id, isBounded, job }),
    )
  }

  discard(tx: SimTransaction, id: string): Promise<boolean> {
    return this.#change(
      tx,
      'discard',
      (memory) => this.#store.discard(memory, id),
      (did) => ({ what: 'discarded', id, did }),
    )
  }

  cancel(tx: SimTransaction, id: string): Promise<boolean> {
    return this.#change(
      tx,
      'cancel',
      (memory) => this.#store.cancel(memory, id),
      (did) => ({ what: 'cancelled', id, did }),
    )
  }

  pause(tx: SimTransaction, kind: string, pause: { reason: string; untilMs?: number | undefined }) {
    return this.#change(
      tx,
      'pause',
      (memory) => this.#store.pause(memory, kind, pause),
      () => ({ what: 'paused', kind, untilMs: pause.untilMs ?? null }),
    )
  }

  resume(tx: SimTransaction, kind: string): Promise<boolean> {
    return this.#change(
      tx,
      'resume',
      (memory) => this.#store.resume(memory, kind),
      () => ({ what: 'resumed', kind }),
    )
  }

  setWeight(tx: SimTransaction, tenant: string, weight: number): Promise<void> {
    return this.#change(
      tx,
      'setWeight',
      (memory) => this.#store.setWeight(memory, tenant, weight),
      () => ({ what: 'weighed', tenant, weight }),
    )
  }

  schedule(tx: SimTransaction, schedule: Schedule): Promise<void> {
    return this.#change(
      tx,
      'schedule',
      (memory) => this.#store.schedule(memory, schedule),
      () => ({ what: 'scheduled', name: schedule.name }),
    )
  }

  unschedule(tx: SimTransaction, name: string): Promise<boolean> {
    return this.#change(tx, 'unschedule', (memory) => this.#store.unschedule(memory, name))
  }

  prune(retention: Retention) {
    return this.#once(
      'prune',
      () => this.#store.prune(retention),
      ({ jobs }) => [{ what: 'pruned', jobs }],
    )
  }

  /** Each hint of the store has a fate of its own: it is lost, comes late, or twice. */
  async listen(wake: () => void): Promise<Listening> {
    const { world, life } = this.#wire
    const { lost, repeated, mostDelayMs } = world.surroundings.hints
    let count = 0
    const hint = () => {
      count++
      const chance = (of: string) => world.chance(life.name, 'hint', count, of)
      if (chance('lost') < lost) return
      life.receive(chance('delay') * mostDelayMs, wake)
      if (chance('repeated') < repeated) life.receive(chance('second') * mostDelayMs, wake)
    }
    const listening = await this.#once('listen', () => this.#store.listen(hint))
    life.onDeath(() => void listening.close())
    return {
      resting: (forMs) => this.#once('resting', () => listening.resting(forMs)),
      busy: () => this.#once('busy', () => listening.busy()),
      close: () => this.#once('close', () => listening.close()),
    }
  }

  steps(jobId: string) {
    return this.#once('steps', () => this.#store.steps(jobId))
  }

  allowance(of: Parameters<Store['allowance']>[0]) {
    return this.#once('allowance', () => this.#store.allowance(of))
  }

  paused() {
    return this.#once('paused', () => this.#store.paused())
  }

  schedules() {
    return this.#once('schedules', () => this.#store.schedules())
  }

  get(id: string) {
    return this.#once('get', () => this.#store.get(id))
  }

  list(filter: Parameters<Store['list']>[0]) {
    return this.#once('list', () => this.#store.list(filter))
  }

  counts() {
    return this.#once('counts', () => this.#store.counts())
  }

  totals() {
    return this.#once('totals', () => this.#store.totals())
  }

  /** A read of the application's own tables, outside any transaction. */
  async account(tenant: string): Promise<boolean> {
    return this.#once('account', async () => this.#server.app.get('accounts', tenant)?.isAllowed ?? true)
  }

  #call<T>(op: string, effect: () => Promise<T>): Promise<T> {
    return this.#wire.call(op, effect)
  }

  /** A call that is a transaction of the store's own. */
  #once<T>(
    op: string,
    effect: () => Promise<T>,
    done: (value: T) => Happening[] = () => [],
    failed: (error: unknown) => Happening[] = () => [],
  ): Promise<T> {
    return this.#call(op, () =>
      this.#server.turn(effect, (outcome) =>
        'value' in outcome ? done(outcome.value) : failed(outcome.error),
      ),
    )
  }

  #opened(memory: MemoryTransaction): SimTransaction {
    const tx: SimTransaction = new SimTransaction({
      memory,
      app: this.#server.app,
      statement: (op, effect) => this.#wire.call(op, async () => effect(), tx),
    })
    return tx
  }

  /** A statement of the caller's transaction. What it has done, it has done if that commits. */
  async #change<T>(
    tx: SimTransaction,
    op: string,
    effect: (memory: MemoryTransaction) => Promise<T>,
    done?: (value: T) => Happening,
  ): Promise<T> {
    return tx.run(op, async (memory) => {
      const value = await effect(memory)
      if (done) tx.happenings.push(done(value))
      return value
    })
  }

  #submitting(
    tx: SimTransaction,
    op: string,
    submissions: Submission[],
    effect: (memory: MemoryTransaction) => Promise<Submitted[]>,
  ): Promise<Submitted[]> {
    return tx.run(op, async (memory) => {
      try {
        const answers = await effect(memory)
        tx.happenings.push(...this.#submitted(submissions, answers, true))
        return answers
      } catch (error) {
        for (const one of this.#refused(submissions, error)) this.#server.world.see(one)
        throw error
      }
    })
  }

  #committed(tx: SimTransaction): Happening[] {
    if (tx.rows.length === 0) return tx.happenings
    return [...tx.happenings, { what: 'rows', by: this.#by, rows: tx.rows }]
  }

  #submitted(submissions: Submission[], answers: Submitted[], hasRow: boolean): Happening[] {
    return answers.map(({ job, isRepeat }, n) => {
      const submission = submissions[n]!
      return { what: 'submitted', by: this.#by, job, isRepeat, submission, hasRow }
    })
  }

  #refused(submissions: Submission[], error: unknown): Happening[] {
    if (error instanceof QueueFull) {
      return [{ what: 'full', by: this.#by, submissions, limit: error.limit, scope: error.scope }]
    }
    if (!(error instanceof OperationConflict)) return []
    const named = submissions.filter((one) => one.operationId === error.operationId)
    return [{ what: 'conflict', by: this.#by, submissions: named }]
  }
}
