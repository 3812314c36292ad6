import type { Json } from './job.ts'
import type { JobKind } from './kind.ts'
import type { Schedule } from './schedule.ts'
import { validPayload } from './schema.ts'
import type { JobStore, Submission, Submitted } from './store.ts'

/** What is said of one job at its submission; the kind says the rest. */
export interface NewJob<P extends Json> extends Omit<Submission, 'id' | 'kind' | 'payload' | 'deadlineMs'> {
  payload: P
  /** Default: a new one. */
  id?: string
  /** Default: the kind's own. */
  deadlineMs?: number
}

/** What is said of a schedule; the kind says the rest. */
export interface NewSchedule<P extends Json> extends Omit<Schedule, 'kind' | 'payload' | 'deadlineMs'> {
  payload: P
  deadlineMs?: number
}

/**
 * Typed submission: a kind says what its payload is, and that is checked before anything is stored. The rest of a
 * job's life is the store's (`store.repair`, `store.cancel`, …) and the worker's.
 */
export class Jobs<Tx> {
  readonly store: JobStore<Tx>
  readonly #ids: () => string

  /** @param ids new ids, never twice the same, that sort by the time they were made (UUID version 7) */
  constructor({ store, ids }: { store: JobStore<Tx>; ids: () => string }) {
    this.store = store
    this.#ids = ids
  }

  /** In the caller's transaction. Errors: PayloadRejected, OperationConflict, QueueFull: nothing of this job is stored. */
  submit<P extends Json>(tx: Tx, kind: JobKind<Tx, P>, job: NewJob<P>): Promise<Submitted> {
    return this.store.submit(tx, this.submissionOf(kind, job))
  }

  /** In the caller's transaction, all or none. Errors: as `submit`. */
  submitMany<P extends Json>(tx: Tx, kind: JobKind<Tx, P>, jobs: NewJob<P>[]): Promise<Submitted[]> {
    return this.store.submitMany(
      tx,
      jobs.map((one) => this.submissionOf(kind, one)),
    )
  }

  /** In a transaction of its own: durable when it resolves. Callers that come together share one commit. */
  async accept<P extends Json>(kind: JobKind<Tx, P>, job: NewJob<P>): Promise<Submitted> {
    return (await this.store.accept([this.submissionOf(kind, job)]))[0]!
  }

  /** In a transaction of its own, all or none. Errors: as `submit`. */
  async acceptMany<P extends Json>(kind: JobKind<Tx, P>, jobs: NewJob<P>[]): Promise<Submitted[]> {
    return this.store.accept(jobs.map((one) => this.submissionOf(kind, one)))
  }

  /** Creates or replaces the schedule of this name. Errors: PayloadRejected; RangeError for a bad pattern or zone. */
  schedule<P extends Json>(tx: Tx, kind: JobKind<Tx, P>, schedule: NewSchedule<P>): Promise<void> {
    return this.store.schedule(tx, {
      deadlineMs: kind.policy.deadlineMs,
      ...schedule,
      kind: kind.kind,
      payload: validPayload(kind, schedule.payload),
    })
  }

  /** The row as the store takes it. Errors: PayloadRejected. */
  submissionOf<P extends Json>(kind: JobKind<Tx, P>, job: NewJob<P>): Submission {
    return {
      ...job,
      id: job.id ?? this.#ids(),
      kind: kind.kind,
      payload: validPayload(kind, job.payload),
      deadlineMs: job.deadlineMs ?? kind.policy.deadlineMs,
    }
  }
}
