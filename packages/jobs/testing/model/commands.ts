import fc from 'fast-check'
import type { AllowanceUse } from '../../src/allowance.ts'
import type { Schedule } from '../../src/schedule.ts'
import type { ClaimKind, Ending, Retention, StepChange, Submission, WriteAnswer } from '../../src/store.ts'

/** Each limit alone and all of them together. The limits of a kind are the same for all who claim. */
export const KINDS: ClaimKind[] = [
  { kind: 'title', perKey: 1 },
  { kind: 'photo', perKey: 2, spacingMs: 1_500 },
  { kind: 'export', concurrency: 2 },
  { kind: 'feed', perKey: 1, concurrency: 3, spacingMs: 3_000 },
]
export const BOUNDS = { perTenant: 6, total: 11 }
export const TENANTS = ['alice', 'bob', 'carol']
export const KEYS = ['example.org', 'example.com']
export const USES: AllowanceUse[] = [
  { allowance: 'vision', limit: 2, per: 'day' },
  { allowance: 'vision', limit: 1, per: 'hour' },
  { allowance: 'speech', limit: 1, per: 'month' },
]

/** A submission before it has its id; `inMs` from now. */
export type Wish = Omit<Submission, 'id' | 'runAtMs'> & { inMs: number }

/** An ending before it knows the time; retries wait `inMs`. `late`: the lease runs out while the handler writes. */
export interface Word {
  claim: number
  ending: Ending
  inMs: number
  answer: WriteAnswer | 'throws' | 'late'
}

/**
 * What is done, in terms that hold for any state of the store: `claim` and `job` count back from the newest claims
 * and jobs that there are then. Together these are all methods of the contract.
 */
export type Command =
  | { do: 'submit'; wish: Wish; isRolledBack: boolean }
  | { do: 'submitMany'; wishes: Wish[]; isRolledBack: boolean }
  | { do: 'accept'; calls: Wish[][] }
  | { do: 'claim'; limit: number; kinds: number; leaseMs: number }
  | { do: 'publish'; words: Word[] }
  | { do: 'heartbeat'; claims: number[]; leaseMs: number }
  | { do: 'progress'; claim: number; progress: number }
  | { do: 'openStep'; claim: number; name: string; use: number | undefined; evenIfUnknown: boolean }
  | { do: 'recordStep'; claim: number; name: string; change: StepChange }
  | { do: 'supersede'; subject: string; version: number }
  | { do: 'forget'; subject: string; isRolledBack: boolean }
  | { do: 'forgetTenant'; tenant: string }
  | { do: 'repair'; job: number; isBounded: boolean }
  | { do: 'discard' | 'cancel'; job: number; isRolledBack: boolean }
  | { do: 'pause'; kind: string; reason: string; forMs: number | undefined }
  | { do: 'resume'; kind: string }
  | { do: 'setWeight'; tenant: string; weight: number }
  | { do: 'schedule'; schedule: Schedule; isRolledBack: boolean }
  | { do: 'unschedule'; name: string }
  | { do: 'prune'; retention: Retention }
  | { do: 'advance'; ms: number }

const aTenant = fc.constantFrom(...TENANTS)
const aKind = fc.constantFrom(...KINDS.map((one) => one.kind))
const aSubject = fc.constantFrom('bookmark-1', 'bookmark-2')
const aLeaseMs = fc.constantFrom(1_000, 30_000)
const aStep = fc.constantFrom('estimate', 'estimate', 'estimate', 'translate')
/** The newest most often: old claims are all refused alike. */
const anIndex = fc.oneof({ weight: 3, arbitrary: fc.nat({ max: 3 }) }, fc.nat({ max: 30 }))
const rarely = fc.constantFrom(false, false, false, true)
const maybe = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: undefined })
/** One kind of command: all of its fields are always there. */
function doing<Name extends Command['do'], Rest extends object>(
  name: Name,
  rest: { [K in keyof Rest]: fc.Arbitrary<Rest[K]> },
): fc.Arbitrary<{ do: Name } & Rest> {
  return fc.record<Rest>(rest).map((fields) => ({ do: name, ...fields }) as { do: Name } & Rest)
}

const aWish: fc.Arbitrary<Wish> = fc.record({
  kind: aKind,
  tenant: aTenant,
  payload: fc.constantFrom<Submission['payload'][]>(null, null, null, null, { url: 'https://example.org/' }),
  operationId: fc.constantFrom(undefined, undefined, 'op-1', 'op-2', 'op-3', 'op-4'),
  subject: fc.constantFrom(undefined, undefined, 'bookmark-1', 'bookmark-2'),
  subjectVersion: maybe(fc.nat({ max: 3 })),
  key: maybe(fc.constantFrom(...KEYS)),
  priority: fc.constantFrom(undefined, 0, 0, -1, 5),
  deadlineMs: fc.constantFrom(60_000, 3_600_000),
  inMs: fc.constantFrom(0, 0, 0, 5_000),
})

const anEnding: fc.Arbitrary<Ending> = fc.constantFrom<Ending[]>(
  { state: 'succeeded', result: { title: 'A title' } },
  { state: 'succeeded' },
  { state: 'degraded', reason: 'http_503' },
  { state: 'dead', reason: 'http_404', result: [1] },
  { state: 'cancelled', reason: 'discarded' },
  { state: 'ready', outcome: 'released' },
  { state: 'ready', outcome: 'retried', runAtMs: 0, reason: 'timeout' },
  { state: 'ready', outcome: 'retried', runAtMs: 0, reason: 'offline', isUncounted: true },
)

const aWord = (answers: Word['answer'][]): fc.Arbitrary<Word> =>
  fc.record({
    claim: anIndex,
    ending: anEnding,
    inMs: fc.constantFrom(0, 1_000, 20_000),
    answer: fc.constantFrom(...answers),
  })
const aloneWord = aWord([undefined, undefined, undefined, 'superseded', 'discarded', 'throws', 'late'])
/** Not `late`: how many of those that are said together a lease still covers is each store's own affair. */
const amongOthers = aWord([undefined, undefined, undefined, undefined, 'superseded', 'discarded', 'throws'])

const aSchedule: fc.Arbitrary<Schedule> = fc.record({
  name: fc.constantFrom('digest', 'sweep'),
  kind: aKind,
  tenant: aTenant,
  payload: fc.constantFrom<Schedule['payload']>(null, 'new'),
  cron: fc.constantFrom(
    ...['*/5 * * * * *', '*/5 * * * * *', '*/5 * * * * *', '* * * * *', '0 7 * * *', 'no pattern'],
  ),
  zone: fc.constantFrom(undefined, 'UTC', 'Europe/Berlin'),
  missed: fc.constantFrom(undefined, 'skip', 'once', 'all'),
  key: maybe(fc.constantFrom(...KEYS)),
  priority: fc.constantFrom(undefined, 3),
  deadlineMs: fc.constant(60_000),
})

const aChange: fc.Arbitrary<StepChange> = fc.constantFrom<StepChange[]>(
  { state: 'submitted', providerId: 'p-1' },
  { state: 'submitted', providerId: 'p-2' },
  { state: 'settled', result: { kcal: 500 } },
  { state: 'settled', result: null },
  { state: 'refunded', reason: 'http_503' },
)

const aRetention: fc.Arbitrary<Retention> = fc.record({
  finishedMs: fc.constantFrom(0, 5_000, 600_000),
  operationsMs: fc.constantFrom(0, 30_000, 600_000),
  stepsMs: fc.constantFrom(0, 5_000, 600_000),
  limit: fc.constantFrom(1, 3, 100),
})

/** The weights keep the store nearly full, and most attempts under way: there limits, steps and leases meet. */
const aCommand: fc.Arbitrary<Command> = fc.oneof(
  { weight: 10, arbitrary: doing('submit', { wish: aWish, isRolledBack: rarely }) },
  {
    weight: 4,
    arbitrary: doing('submitMany', { wishes: fc.array(aWish, { maxLength: 5 }), isRolledBack: rarely }),
  },
  {
    weight: 6,
    arbitrary: doing('accept', {
      calls: fc.array(fc.array(aWish, { maxLength: 3 }), { minLength: 1, maxLength: 4 }),
    }),
  },
  {
    weight: 20,
    arbitrary: doing('claim', {
      limit: fc.nat({ max: 6 }),
      kinds: fc.constantFrom(1, 2, 4, 8, 15, 15, 15, 15),
      leaseMs: aLeaseMs,
    }),
  },
  { weight: 10, arbitrary: doing('publish', { words: fc.tuple(aloneWord) }) },
  {
    weight: 4,
    arbitrary: doing('publish', { words: fc.array(amongOthers, { minLength: 2, maxLength: 5 }) }),
  },
  {
    weight: 2,
    arbitrary: doing('heartbeat', { claims: fc.array(anIndex, { maxLength: 4 }), leaseMs: aLeaseMs }),
  },
  { weight: 2, arbitrary: doing('progress', { claim: anIndex, progress: fc.nat({ max: 2 }) }) },
  {
    weight: 14,
    arbitrary: doing('openStep', {
      claim: anIndex,
      name: aStep,
      use: fc.constantFrom(undefined, 0, 0, 0, 1, 2),
      evenIfUnknown: fc.boolean(),
    }),
  },
  { weight: 5, arbitrary: doing('recordStep', { claim: anIndex, name: aStep, change: aChange }) },
  doing('supersede', { subject: aSubject, version: fc.nat({ max: 4 }) }),
  doing('forget', { subject: aSubject, isRolledBack: fc.boolean() }),
  doing('forgetTenant', { tenant: aTenant }),
  { weight: 3, arbitrary: doing('repair', { job: anIndex, isBounded: fc.boolean() }) },
  doing('discard', { job: anIndex, isRolledBack: rarely }),
  doing('cancel', { job: anIndex, isRolledBack: rarely }),
  doing('pause', {
    kind: aKind,
    reason: fc.constantFrom('maintenance', 'broken'),
    forMs: fc.constantFrom(undefined, 1_000, 20_000),
  }),
  { weight: 3, arbitrary: doing('resume', { kind: aKind }) },
  doing('setWeight', { tenant: aTenant, weight: fc.constantFrom(0.5, 1, 3, 100, 0) }),
  { weight: 3, arbitrary: doing('schedule', { schedule: aSchedule, isRolledBack: rarely }) },
  doing('unschedule', { name: fc.constantFrom('digest', 'sweep') }),
  { weight: 2, arbitrary: doing('prune', { retention: aRetention }) },
  {
    weight: 9,
    arbitrary: doing('advance', {
      ms: fc.constantFrom(1, 500, 999, 1_000, 1_000, 1_500, 1_500, 5_000, 30_000, 3_600_000),
    }),
  },
)

/** Long enough that something has been built up, most of the time. */
export const aSequence: fc.Arbitrary<Command[]> = fc.array(aCommand, {
  minLength: 1,
  maxLength: 90,
  size: 'max',
})
