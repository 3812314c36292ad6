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

/**
 * The tenant's quota of paid uses is spent; nothing was counted and nobody was called. A handler that can do
 * without catches it; otherwise the job is degraded, as by any Degrade.
 */
export class AllowanceExhausted extends Degrade {
  readonly allowance: string
  readonly limit: number
  readonly resetsAtMs: number
  constructor({ allowance, limit, resetsAtMs }: { allowance: string; limit: number; resetsAtMs: number }) {
    super('allowance_exhausted')
    this.name = 'AllowanceExhausted'
    this.allowance = allowance
    this.limit = limit
    this.resetsAtMs = resetsAtMs
  }
}

/** It is not known whether an earlier call was billed, and the policy is not to risk paying twice. */
export class BillingUnknown extends Degrade {
  constructor() {
    super('billing_unknown')
    this.name = 'BillingUnknown'
  }
}

/** A paid call's word: it failed and the provider does not bill that. The use is given back, `outcome` decides the job. */
export class NotBilled extends Error {
  readonly code = 'NOT_BILLED'
  readonly reason: string
  /** What the try ends with: usually a Retry. */
  readonly outcome: Error
  constructor(reason: string, outcome: Error) {
    super(`Not billed: ${reason}`, { cause: outcome })
    this.name = 'NotBilled'
    this.reason = reason
    this.outcome = outcome
  }
}

/** The payload is not what its kind says it takes. At submission nothing is stored. HTTP: 400. */
export class PayloadRejected extends Error {
  readonly code = 'PAYLOAD_REJECTED'
  readonly kind: string
  /** Paths and messages as the schema says them. */
  readonly issues: { path: string; message: string }[]
  constructor(kind: string, issues: { path: string; message: string }[]) {
    const first = issues[0]
    super(
      `The payload of a ${kind} job is not valid: ${first ? `${first.path || 'it'} ${first.message}` : '?'}.`,
    )
    this.name = 'PayloadRejected'
    this.kind = kind
    this.issues = issues
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

/** Why an attempt's signal was aborted: nobody waits for the handler any more, what it does is thrown away. */
export class AttemptCut extends Error {
  readonly code = 'ATTEMPT_CUT'
  /** The lease is lost, the worker stops, or the try took too long. */
  readonly why: 'lost' | 'stopped' | 'late'
  constructor(why: 'lost' | 'stopped' | 'late') {
    super(`The attempt is cut short: ${why}.`)
    this.name = 'AttemptCut'
    this.why = why
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
