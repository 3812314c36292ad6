import type { ManualClock } from '@garner/db'
import { type Claim, PENDING_STATES } from '../../src/job.ts'
import type { Ending, JobStore, Submission, Submitted } from '../../src/store.ts'
import { type Command, KINDS, TENANTS, USES, type Wish, type Word } from './commands.ts'

/** A store under the commands, with a clock of its own. */
export interface Seat<Tx> {
  store: JobStore<Tx>
  clock: ManualClock
  /** Looks at what no caller sees: that the store's own counters equal what there is. */
  assertSound?(): Promise<void>
  close(): Promise<void>
}

/** Opens an empty store with the model's bounds. Called once for each sequence. */
export type OpenSeat<Tx> = () => Promise<Seat<Tx>>

/** What those who give the commands remember: every claim ever made, and which jobs there are. */
export interface World {
  claims: Claim[]
  ids: string[]
  /** Counts up with each command: new ids are made of it. */
  turn: number
}

/** Thrown inside transactions that shall be rolled back, with what they had answered. */
class Rollback extends Error {
  readonly answer: unknown
  constructor(answer: unknown) {
    super('rolled back')
    this.answer = answer
  }
}

/** The answer of one command as data; an error is an answer too. */
export async function perform<Tx>(seat: Seat<Tx>, command: Command, world: World): Promise<unknown> {
  return asAnswer(run(seat, command, world))
}

async function asAnswer(work: Promise<unknown>): Promise<unknown> {
  try {
    return await work
  } catch (error) {
    if (error instanceof Rollback) return { rolledBack: error.answer }
    if (error instanceof RangeError) return { refused: 'RangeError' }
    if (error instanceof Error && 'code' in error) return { ...error, code: error.code }
    throw error
  }
}

async function run<Tx>(seat: Seat<Tx>, command: Command, world: World): Promise<unknown> {
  const { store, clock } = seat
  const change = <T>(work: (tx: Tx) => Promise<T>, isRolledBack = false) =>
    store.transaction(async (tx) => {
      const answer = await work(tx)
      if (isRolledBack) throw new Rollback(answer)
      return answer
    })
  const claimAt = (index: number) => pick(world.claims, index)
  const ofJob = async (index: number, work: (id: string) => Promise<unknown>) => {
    const id = pick(world.ids, index)
    return id === undefined ? 'no job' : work(id)
  }
  switch (command.do) {
    case 'submit': {
      const [submission] = submissionsOf([command.wish], world, clock)
      const answer = change((tx) => store.submit(tx, submission!), command.isRolledBack)
      return answer.then((one) => seen(store, one))
    }
    case 'submitMany': {
      const submissions = submissionsOf(command.wishes, world, clock)
      const answers = await change((tx) => store.submitMany(tx, submissions), command.isRolledBack)
      return Promise.all(answers.map((one) => seen(store, one)))
    }
    case 'accept': {
      const submissions = submissionsOf(command.calls.flat(), world, clock)
      const calls = command.calls.map((wishes) => store.accept(submissions.splice(0, wishes.length)))
      const answered = await Promise.all(calls.map(asAnswer))
      const look = async (one: unknown) =>
        Array.isArray(one) ? Promise.all((one as Submitted[]).map((each) => seen(store, each))) : one
      return Promise.all(answered.map(look))
    }
    case 'claim': {
      const kinds = KINDS.filter((_, n) => command.kinds & (1 << n))
      const hint = await store.nextDueInMs(kinds.map((one) => one.kind))
      const { limit, leaseMs } = command
      const claims = await store.claim({ worker: `worker-${world.turn}`, limit, leaseMs, kinds })
      if (claims.length > 0 && hint !== 0) throw new Error(`Due in ${hint} ms, it said; and there was work.`)
      return claims
    }
    case 'publish': {
      // Of two that say the same claim at once either may be first; said again later, the second is a repeat.
      const spoken = new Map(command.words.map((word) => [claimAt(word.claim), word]))
      return Promise.all([...spoken].map(([claim, word]) => asAnswer(say(seat, claim, word))))
    }
    case 'heartbeat': {
      const claims = command.claims.map(claimAt).filter((one) => one !== undefined)
      return store.heartbeat(claims, command.leaseMs)
    }
    case 'progress': {
      const claim = claimAt(command.claim)
      return claim && store.progress(claim, command.progress)
    }
    case 'openStep': {
      const claim = claimAt(command.claim)
      const { name, use, evenIfUnknown } = command
      return claim && store.openStep(claim, { name, use: use === undefined ? use : USES[use], evenIfUnknown })
    }
    case 'recordStep': {
      const claim = claimAt(command.claim)
      return claim && store.recordStep(claim, command.name, command.change)
    }
    case 'supersede':
      return change((tx) => store.supersede(tx, command))
    case 'forget':
      return change((tx) => store.forget(tx, command.subject), command.isRolledBack)
    case 'forgetTenant':
      return change((tx) => store.forgetTenant(tx, command.tenant))
    case 'repair': {
      const { isBounded } = command
      return ofJob(command.job, (id) => change((tx) => store.repair(tx, id, { isBounded })))
    }
    case 'discard':
    case 'cancel':
      return ofJob(command.job, (id) => change((tx) => store[command.do](tx, id), command.isRolledBack))
    case 'pause': {
      const { kind, reason, forMs } = command
      const untilMs = forMs === undefined ? undefined : clock.nowMs() + forMs
      return change((tx) => store.pause(tx, kind, { reason, untilMs }))
    }
    case 'resume':
      return change((tx) => store.resume(tx, command.kind))
    case 'setWeight':
      return change((tx) => store.setWeight(tx, command.tenant, command.weight))
    case 'schedule':
      return change((tx) => store.schedule(tx, command.schedule), command.isRolledBack)
    case 'unschedule':
      return change((tx) => store.unschedule(tx, command.name))
    case 'prune':
      return store.prune(command.retention)
    case 'advance':
      return clock.advance(command.ms)
  }
}

async function say<Tx>({ store, clock }: Seat<Tx>, claim: Claim | undefined, word: Word): Promise<unknown> {
  if (!claim) return 'no claim'
  const { ending, inMs, answer } = word
  const isRetry = 'outcome' in ending && ending.outcome === 'retried'
  const said: Ending = isRetry ? { ...ending, runAtMs: clock.nowMs() + inMs } : ending
  const lateMs = clock.nowMs() + 40_000
  return store.publish(claim, said, async () => {
    if (answer === 'throws') throw new Rollback('the writes threw')
    // A store may run the writes twice; the time that they take is up by then.
    if (answer === 'late') clock.advance(Math.max(0, lateMs - clock.nowMs()))
    return answer === 'late' ? undefined : answer
  })
}

function submissionsOf(wishes: Wish[], { turn }: World, clock: ManualClock): Submission[] {
  return wishes.map(({ inMs, ...wish }, n) => {
    const id = `job-${String(turn).padStart(4, '0')}-${n}`
    return { ...wish, id, runAtMs: clock.nowMs() + inMs }
  })
}

/** Of a job that is pruned a repeat knows only so much. */
async function seen<Tx>(store: JobStore<Tx>, answer: Submitted): Promise<unknown> {
  const { job, isRepeat } = answer
  if (!isRepeat || (await store.get(job.id))) return answer
  const { id, kind, tenant, payload, state } = job
  return { isRepeat, job: { id, kind, tenant, payload, state } }
}

/** Counted from the newest. */
function pick<T>(of: T[], index: number): T | undefined {
  return of.length === 0 ? undefined : of.at(-1 - (index % of.length))
}

/** What can be read of all jobs at once. */
export async function overview<Tx>({ store, clock }: Seat<Tx>) {
  const kinds = KINDS.map((one) => one.kind)
  const uses = TENANTS.flatMap((tenant) => USES.map(({ allowance, per }) => ({ tenant, allowance, per })))
  return {
    nowMs: clock.nowMs(),
    jobs: await store.list({ limit: 1_000 }),
    counts: await store.counts(),
    totals: await store.totals(),
    allowances: await Promise.all(uses.map((of) => store.allowance(of))),
    hasWork: await Promise.all(kinds.map(async (kind) => (await store.nextDueInMs([kind])) !== null)),
    paused: await store.paused(),
    schedules: await store.schedules(),
  }
}

/** What can be read of each job. Steps of jobs that are gone too: they may be there still, or must not be. */
export async function details<Tx>({ store }: Seat<Tx>, { claims }: World, { jobs }: Overview) {
  const known = new Set([...claims.map((one) => one.job.id), ...jobs.map((one) => one.id)])
  return {
    attempts: await Promise.all(jobs.map(async ({ id }) => (await store.get(id))!.attempts)),
    steps: await Promise.all([...known].map(async (id) => [id, await store.steps(id)] as const)),
  }
}

export type Overview = Awaited<ReturnType<typeof overview>>
export type Details = Awaited<ReturnType<typeof details>>

/** Liveness: with all workers well again and nothing paused, every job ends, within a few claims for each. */
export async function drain<Tx>({ store, clock }: Seat<Tx>): Promise<void> {
  const [paused, schedules] = await Promise.all([store.paused(), store.schedules()])
  await store.transaction(async (tx) => {
    for (const { kind } of paused) await store.resume(tx, kind)
    for (const { name } of schedules) await store.unschedule(tx, name)
  })
  clock.advance(40_000)
  const kinds = KINDS.map((one) => one.kind)
  for (let rounds = 0; ; rounds++) {
    const waitMs = await store.nextDueInMs(kinds)
    if (waitMs === null) break
    if (rounds > 200) throw new Error('There are jobs that do not end.')
    const claims = await store.claim({ worker: 'last', limit: 5, leaseMs: 30_000, kinds: KINDS })
    const ends = await Promise.all(claims.map((one) => store.publish(one, { state: 'succeeded' })))
    if (ends.some((one) => one !== 'published')) throw new Error(`Published: ${ends.join(', ')}.`)
    // A key's spacing is the only thing that is left to wait for.
    if (claims.length === 0) clock.advance(Math.max(waitMs, 500))
  }
  for (const state of PENDING_STATES) {
    if ((await store.list({ state, limit: 1 })).length > 0) throw new Error(`A job is left ${state}.`)
  }
}
