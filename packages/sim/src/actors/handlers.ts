import {
  type AttemptContext,
  Degrade,
  type Job,
  type JobKind,
  type Json,
  type Outcome,
  Permanent,
  Retry,
  StoreUnavailable,
} from '@garner/jobs'
import type { Act, KindPlan } from '../plan/plan.ts'
import type { Connection } from '../store/connection.ts'
import { SimTransaction } from '../store/sim-transaction.ts'
import type { Life } from '../world/machine.ts'
import type { World } from '../world/world.ts'
import type { Provider } from './provider.ts'

export interface Workshop {
  world: World
  life: Life
  connection: Connection
  provider: Provider
  leaseMs: number
  /** See Mutation; null: nothing is remembered. */
  remembered: Map<string, boolean> | null
}

/** What every job does once all is well. */
const WELL: Act = { workMs: 5, isDeaf: false, tellsProgress: false, provider: 'answers', ends: 'writes' }

/** The application's handlers, as the plan has them behave. */
export function kindOf(shop: Workshop, plan: KindPlan): JobKind<SimTransaction> {
  const { connection, world, life, remembered } = shop
  const show = (what: string) => async (tx: SimTransaction, job: Job) => {
    await tx.put({ table: 'shown', key: `${job.id}@${job.epoch}`, jobId: job.id, epoch: job.epoch, what })
    return undefined
  }
  const rules = {
    kind: plan.kind,
    ...(plan.perKey !== undefined && { perKey: plan.perKey }),
    ...(plan.concurrency !== undefined && { concurrency: plan.concurrency }),
    ...(plan.spacingMs !== undefined && { spacingMs: plan.spacingMs }),
    policy: plan,
    attemptMs: plan.attemptMs,
    async isAllowed(query: unknown, job: Job) {
      const isInside = query instanceof SimTransaction
      const known = remembered?.get(job.tenant)
      const isAllowed = known ?? (await accountIn(isInside ? query : connection, job.tenant))
      remembered?.set(job.tenant, isAllowed)
      world.see({ what: 'allowed', by: life.name, job, isAllowed, isInside })
      return isAllowed
    },
    retried: show('retried'),
    discarded: show('discarded'),
    died: show('died'),
    ...(plan.canDegrade && { degrade: show('degraded') }),
  }
  if (plan.batchMax === undefined) return { ...rules, handle: (attempt) => handle(shop, plan, attempt) }
  return {
    ...rules,
    batchMax: plan.batchMax,
    handleBatch: (attempts) =>
      Promise.all(attempts.map((one) => handle(shop, plan, one).catch((error: Error) => error))),
  }
}

async function accountIn(where: SimTransaction | Connection, tenant: string): Promise<boolean> {
  if (!(where instanceof SimTransaction)) return where.account(tenant)
  return (await where.get('accounts', tenant))?.isAllowed ?? true
}

/** What the plan has this try do. A job made by a schedule has no acts of its own. */
function actOf({ world }: Workshop, job: Job): Act {
  const { acts } = job.payload as unknown as { acts: Act[] }
  if (world.isHealed || acts.length === 0) return WELL
  return acts[Math.min(job.epoch, acts.length) - 1]!
}

async function handle(
  shop: Workshop,
  plan: KindPlan,
  attempt: AttemptContext,
): Promise<Outcome<SimTransaction>> {
  const { world, life, leaseMs } = shop
  const { job } = attempt
  const of = { by: life.name, job, epoch: job.epoch }
  const left = (why: 'ended' | 'told') => {
    if (life.isAlive) world.see({ what: 'left', ...of, why })
  }
  world.note(life.name, `handles ${job.id}@${job.epoch}`)
  const isCut = attempt.signal.aborted
  world.see({ what: 'handling', ...of, leaseMs, isCut })
  if (isCut) left('told')
  else attempt.signal.addEventListener('abort', () => left('told'), { once: true })
  try {
    return await perform(shop, plan, attempt, actOf(shop, job))
  } finally {
    left('ended')
  }
}

async function perform(
  shop: Workshop,
  plan: KindPlan,
  attempt: AttemptContext,
  act: Act,
): Promise<Outcome<SimTransaction>> {
  const { world, life } = shop
  const { job } = attempt
  await work(shop, attempt, act)
  if (act.tellsProgress) await attempt.progress({ half: job.epoch })
  if (plan.hasPart) {
    let isNew = false
    const value = await attempt.once('part', async () => {
      isNew = true
      await life.clock.sleep(3)
      return `part of ${job.id}@${job.epoch}`
    })
    world.see({ what: 'part', by: life.name, job, step: 'part', value, isNew })
  }
  const estimate = plan.paid ? await estimated(shop, plan, attempt, act) : null
  await work(shop, attempt, act)
  switch (act.ends) {
    case 'writes':
      return { result: { writes: true }, write: (tx) => writing(tx, job, estimate) }
    case 'writes-nothing':
      return { result: { writes: false } }
    case 'retry':
      throw new Retry('http_503')
    case 'retry-after':
      throw new Retry('http_429', { afterMs: 8_000 })
    case 'retry-uncounted':
      throw new Retry('offline', { isUncounted: true })
    case 'degrade':
      throw new Degrade('no_title')
    case 'permanent':
      throw new Permanent('http_404')
    case 'bug':
      throw new TypeError('a bug of ours')
    case 'store-trouble':
      throw new StoreUnavailable('injected', 'reading for a handler')
    case 'writing-fails':
      return {
        result: { writes: true },
        async write(tx) {
          await writing(tx, job, estimate)
          throw new TypeError('a bug in the writes')
        },
      }
    case 'never':
      return new Promise(() => {})
  }
}

/** Half of the work; a handler that listens stops when it is told to. */
async function work({ life }: Workshop, { signal }: AttemptContext, act: Act): Promise<void> {
  await life.clock.sleep(act.workMs / 2, act.isDeaf ? undefined : signal)
  if (!act.isDeaf && signal.aborted) throw new Error(`told to stop: ${signal.reason}`)
}

async function estimated(
  { world, life, provider }: Workshop,
  { paid }: KindPlan,
  attempt: AttemptContext,
  { provider: act }: Act,
): Promise<Json> {
  const { job } = attempt
  const { use, canResume, ifUnknown } = paid!
  const step = 'estimate'
  const call = { life, job, step, act }
  let isNew = false
  const value = await attempt.oncePaid<Json>(step, {
    use,
    ifUnknown,
    async call({ submitted }) {
      isNew = true
      if (!canResume) return provider.ask(call)
      const id = await provider.start(call)
      await submitted(id)
      return provider.result(id, call)
    },
    ...(canResume && {
      resume: (id: string) => {
        isNew = true
        return provider.result(id, call)
      },
    }),
  })
  world.see({ what: 'part', by: life.name, job, step, value, isNew })
  return value
}

async function writing(tx: SimTransaction, job: Job, estimate: Json) {
  if (job.subject !== null) {
    const subject = await tx.get('subjects', job.subject)
    if ((subject?.version ?? 1) !== job.subjectVersion) return 'superseded'
  }
  const row = { key: job.id, jobId: job.id, epoch: job.epoch, version: job.subjectVersion, estimate }
  await tx.put({ table: 'results', ...row })
  await tx.put({ table: 'details', ...row })
  return undefined
}
