export { SchemaMismatch, StoreUnavailable } from '@garner/db'

/** The same operation id came with another payload. HTTP: 409. */
export class OperationConflict extends Error {
  readonly code = 'OPERATION_CONFLICT'
  readonly operationId: string
  constructor(operationId: string) {
    super(`Operation ${operationId} was already used with another payload; use a new id.`)
    this.name = 'OperationConflict'
    this.operationId = operationId
  }
}

/** The queue's bound is reached: nothing was stored. HTTP: 429 with Retry-After. */
export class QueueFull extends Error {
  readonly code = 'QUEUE_FULL'
  readonly scope: 'tenant' | 'total'
  readonly limit: number
  readonly pending: number
  readonly retryAfterMs: number
  constructor({
    scope,
    limit,
    pending,
    retryAfterMs,
  }: {
    scope: 'tenant' | 'total'
    limit: number
    pending: number
    retryAfterMs: number
  }) {
    super(`The queue is full (${scope}: ${pending} of ${limit} pending); try again in ${retryAfterMs} ms.`)
    this.name = 'QueueFull'
    this.scope = scope
    this.limit = limit
    this.pending = pending
    this.retryAfterMs = retryAfterMs
  }
}

/** A handler's word: this try failed, another may not. The worker owns when, and whether. */
export class Retry extends Error {
  readonly code = 'RETRY'
  readonly reason: string
  /** What the other side asked for; at least this long is waited. */
  readonly afterMs: number | undefined
  /** Replaces the kind's number of tries for this kind of failure. */
  readonly attemptsMax: number | undefined
  /** The failure says nothing of the work itself (no network here): no try is spent, only the deadline ends it. */
  readonly isUncounted: boolean
  constructor(
    reason: string,
    options: { afterMs?: number; attemptsMax?: number; isUncounted?: boolean; cause?: unknown } = {},
  ) {
    super(`Try again: ${reason}`, { cause: options.cause })
    this.name = 'Retry'
    this.reason = reason
    this.afterMs = options.afterMs
    this.attemptsMax = options.attemptsMax
    this.isUncounted = options.isUncounted ?? false
  }
}

/** A handler's word: more tries will not help, but the useful part can be kept (the kind's `degrade`). */
export class Degrade extends Error {
  readonly code = 'DEGRADE'
  readonly reason: string
  constructor(reason: string, cause?: unknown) {
    super(`Degraded: ${reason}`, { cause })
    this.name = 'Degrade'
    this.reason = reason
  }
}

/** A handler's word: this cannot be done at all. The job is dead at once, kept and repairable. */
export class Permanent extends Error {
  readonly code = 'PERMANENT'
  readonly reason: string
  constructor(reason: string, cause?: unknown) {
    super(`Permanent: ${reason}`, { cause })
    this.name = 'Permanent'
    this.reason = reason
  }
}

/** Something that can never be so: a bug or a damaged store. Never caught by the retry path. */
export class InvariantBroken extends Error {
  readonly code = 'INVARIANT_BROKEN'
  constructor(message: string) {
    super(message)
    this.name = 'InvariantBroken'
  }
}

/** The program does not know this kind: it was not registered with the worker. */
export class UnknownKind extends Error {
  readonly code = 'UNKNOWN_KIND'
  constructor(kind: string) {
    super(`No handler is registered for jobs of kind ${kind}.`)
    this.name = 'UnknownKind'
  }
}
