import { StoreUnavailable } from '@garner/jobs'
import type { Command } from '../plan/plan.ts'
import type { Connection } from '../store/connection.ts'
import type { SimTransaction } from '../store/sim-transaction.ts'
import type { Life } from '../world/machine.ts'
import type { World } from '../world/world.ts'

export type OperatorCommand = Exclude<Command, { do: 'submit' | 'stop' }>

export interface OperatorParts {
  world: World
  life: Life
  connection: Connection
  /** The job that a command means (see Command); undefined when there is none yet. */
  jobOf: (which: number) => string | undefined
}

/** 3: then the person gives up. */
const TRIES = 3

/** A person or a route that changes what is there: each command in a transaction of its own. */
export async function operate(parts: OperatorParts, command: OperatorCommand): Promise<void> {
  const { world, life } = parts
  for (let tries = 1; tries <= TRIES; tries++) {
    try {
      return await changed(parts, command)
    } catch (error) {
      world.note(life.name, `${command.do} fails: ${error instanceof Error ? error.name : error}`)
      if (!(error instanceof StoreUnavailable)) return
      await life.clock.sleep(200 * tries)
    }
  }
}

async function changed({ connection, jobOf, life }: OperatorParts, command: OperatorCommand): Promise<void> {
  const change = (work: (tx: SimTransaction) => Promise<unknown>) => connection.transaction(work)
  const onJob = async (which: number, work: (tx: SimTransaction, id: string) => Promise<unknown>) => {
    const id = jobOf(which)
    if (id !== undefined) await change((tx) => work(tx, id))
  }
  switch (command.do) {
    case 'bump': {
      const { subject } = command
      await change(async (tx) => {
        const version = ((await tx.get('subjects', subject))?.version ?? 1) + 1
        await tx.put({ table: 'subjects', key: subject, version })
        await connection.supersede(tx, { subject, version })
      })
      return
    }
    case 'forget':
      await change((tx) => connection.forget(tx, command.subject))
      return
    case 'forget-tenant':
      await change((tx) => connection.forgetTenant(tx, command.tenant))
      return
    case 'revoke':
    case 'allow': {
      const isAllowed = command.do === 'allow'
      await change((tx) => tx.put({ table: 'accounts', key: command.tenant, isAllowed }))
      return
    }
    case 'cancel':
      return onJob(command.which, (tx, id) => connection.cancel(tx, id))
    case 'discard':
      return onJob(command.which, (tx, id) => connection.discard(tx, id))
    case 'repair': {
      const { isBounded } = command
      return onJob(command.which, (tx, id) => connection.repair(tx, id, { isBounded }))
    }
    case 'pause': {
      const { kind, forMs } = command
      const untilMs = forMs === undefined ? undefined : life.clock.nowMs() + forMs
      await change((tx) => connection.pause(tx, kind, { reason: 'by hand', untilMs }))
      return
    }
    case 'resume':
      await change((tx) => connection.resume(tx, command.kind))
      return
    case 'weigh':
      await change((tx) => connection.setWeight(tx, command.tenant, command.weight))
      return
    case 'schedule': {
      const { name, kind, tenant, cron, missed } = command
      const schedule = { name, kind, tenant, cron, missed, payload: { acts: [] }, deadlineMs: 60_000 }
      await change((tx) => connection.schedule(tx, schedule))
      return
    }
    case 'unschedule':
      await change((tx) => connection.unschedule(tx, command.name))
      return
    case 'prune':
      // Operation ids and steps outlive every run: their horizons are the store's own tests.
      await connection.prune({
        finishedMs: command.finishedMs,
        operationsMs: 86_400_000,
        stepsMs: 86_400_000,
        limit: 100,
      })
  }
}
