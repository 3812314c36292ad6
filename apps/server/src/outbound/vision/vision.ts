/**
 * What a vision model can be asked, and what comes of it. The shapes only: `connect.ts` makes one for a provider,
 * `canned.ts` one for the demo.
 *
 * A call costs money, so every end of it says what it cost:
 * - a value (`Described`) was billed, useful or not, and is what a paid step stores as its result;
 * - VisionError with `billing: 'none'` was not billed: the use goes back;
 * - VisionError with `billing: 'unknown'` may have been: the provider had the whole request when the connection died.
 */
export interface Vision {
  /** Whether a provider is set up at all. `describe` without one throws `not_configured`. */
  readonly isConfigured: boolean
  /**
   * One call for one photo, with no retry beneath it (the job owns those).
   * Errors: VisionError, and nothing else; it stands for an aborted `signal` too (`aborted`).
   */
  describe(photo: Uint8Array, call: VisionCall): Promise<Described>
  /**
   * The end of a call that an earlier try made, by the id that `submitted` was told. Free. A provider that does not
   * know the id any more comes out as `answer_lost`: it had taken the photo, so it has billed it.
   * Errors: VisionError, `still_running` (ask again later) among them; not billed only when the provider says that the
   * call has failed there.
   */
  resume(providerId: string, call: { signal: AbortSignal }): Promise<Described>
  /** With a known picture: does it see? Paid, unless the provider refuses. Never throws. */
  test(signal: AbortSignal): Promise<VisionTest>
  /** null, or why no call is made just now (quota used up, key refused), since when and until when. */
  parked(): Parked | null
  /** Loads what the first call would otherwise wait for. */
  load?(): Promise<void>
  close(): Promise<void>
}

export interface VisionCall {
  /** Sent as Idempotency-Key: the same for every try that must not be billed twice. */
  operationId: string
  signal: AbortSignal
  /** The provider has taken the request under this id and works on it; awaited before the wait for its answer. */
  submitted(providerId: string): Promise<void>
}

/** The five nutrients, for the portion shown; null is unknown, and unknown is not zero. */
export interface SeenNutrients {
  energy_kcal: number | null
  protein_g: number | null
  carbohydrate_g: number | null
  fat_g: number | null
  fiber_g: number | null
}

export interface SeenItem {
  food: string
  /** As a person would say it: `1 slice`, `200 ml`; empty when unknown. */
  serving: string
  grams: number | null
  nutrients: SeenNutrients
}

/** What the model said, bounded and clean: plain text, finite amounts that are not negative, at most 20 items. */
export interface Seen {
  /** At most 500 characters of plain text; never empty. */
  description: string
  /** False: the picture shows no food, there are no items, and the description says what it shows. */
  isFood: boolean
  items: SeenItem[]
}

/** The end of a billed call. JSON: it is stored as a step's result. */
export type Described =
  /** Words and amounts; single amounts may still be null. */
  | { outcome: 'estimated'; seen: Seen }
  /** The words can be kept, the amounts (all null) cannot, or there are none to have. */
  | { outcome: 'no-amounts'; seen: Seen; reason: 'not_food' | 'absurd_amounts' | 'all_zero' }
  /** Nothing of it can be used. It was billed all the same, so the photo is not asked about again by itself. */
  | { outcome: 'unusable'; reason: UnusableReason }

export type UnusableReason =
  /** The model or its filter declined. */
  | 'declined'
  /** The answer ended at the token limit, in the middle. */
  | 'cut_short'
  /** Nothing was said at all. */
  | 'empty_answer'
  /** Not JSON, or not of the shape asked for. */
  | 'malformed_answer'
  /** NaN and Infinity, and no number beside them. */
  | 'not_finite'
  /** More than a megabyte. */
  | 'answer_too_large'
  /** The provider took the photo and does not know its id any more. */
  | 'answer_lost'

export interface Parked {
  reason: ParkReason
  sinceMs: number
  /** When the next call is let through, one at a time. */
  untilMs: number
}

export type ParkReason = 'quota_exceeded' | 'key_refused' | 'model_not_found'

export interface VisionTest {
  finding:
    | 'works'
    /** It answers, and what it says is not what the picture shows. */
    | 'sees_nothing'
    | 'unusable'
    /** The demo's canned model: there is nothing to test. */
    | 'simulated'
    | VisionErrorCode
  /** One sentence for the operator; never the key, never the provider's words. */
  detail: string
}

/** code → who acts: `later` the job's retries, `parked` the operator, `never` nobody (this photo cannot be sent). */
const KINDS = {
  not_configured: ['never', 'no vision provider is set up'],
  unreachable: ['later', 'the provider could not be reached'],
  connection_lost: ['later', 'the connection to the provider was lost'],
  timeout: ['later', 'the provider took too long to answer'],
  still_running: ['later', 'the provider is still working on it'],
  aborted: ['later', 'the call was broken off on our side'],
  rate_limited: ['later', 'the provider asked for a pause'],
  overloaded: ['later', 'the provider is overloaded or out of order'],
  not_a_provider: ['later', 'what answered is not a vision provider: a login page or a proxy'],
  request_refused: ['never', 'the provider refuses this request'],
  too_large: ['never', 'the photo is too large for the provider'],
  quota_exceeded: ['parked', "the provider's quota is used up"],
  key_refused: ['parked', 'the provider refuses the key'],
  model_not_found: ['parked', 'the provider does not know the model or the address'],
} as const satisfies Record<string, readonly ['later' | 'never' | 'parked', string]>

export type VisionErrorCode = keyof typeof KINDS

/**
 * A call that gave no answer. Its message is ours alone and it has no `cause`: what a provider says may hold parts of
 * the key, and errors end up in logs.
 */
export class VisionError extends Error {
  readonly code: VisionErrorCode
  readonly retry: 'later' | 'never' | 'parked'
  /** `unknown`: the provider had the whole request, so it may bill it. */
  readonly billing: 'none' | 'unknown'
  /** What the provider asked for, or how long the provider stays parked; a duration. */
  readonly retryAfterMs: number | undefined

  constructor(
    code: VisionErrorCode,
    more: { billing?: 'none' | 'unknown'; retryAfterMs?: number | undefined } = {},
  ) {
    const [retry, message] = KINDS[code]
    super(`The photo was not described: ${message}.`)
    this.name = 'VisionError'
    this.code = code
    this.retry = retry
    // What is still being worked on will be billed.
    this.billing = more.billing ?? (code === 'still_running' ? 'unknown' : 'none')
    this.retryAfterMs = more.retryAfterMs
  }
}
