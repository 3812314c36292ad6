import { OperationConflict, QueueFull, StoreUnavailable, type Submission } from '@garner/jobs'
import type { Command, KindPlan, NewJobPlan } from '../plan/plan.ts'
import type { Connection } from '../store/connection.ts'
import type { Life } from '../world/machine.ts'
import type { World } from '../world/world.ts'

type SubmitCommand = Extract<Command, { do: 'submit' }>

export interface ClientParts {
  world: World
  life: Life
  connection: Connection
  kinds: Map<string, KindPlan>
  /** New job ids, never twice the same, that sort by the time they were made. */
  ids: () => string
  /** A subject's version now, for the job that is about it. */
  versionOf: (subject: string) => number
}

/** 4: the first, and three more by a browser that was told 503. */
const TRIES = 4

/** Thrown by a route that changes its mind. */
class RolledBack extends Error {}

/**
 * A route that saves something together with its job, and answers 201 when that is durable. With an operation id it
 * asks again when it was told that the store is away; without, nobody knows, and nobody was promised anything.
 */
export async function submit(parts: ClientParts, command: SubmitCommand): Promise<void> {
  const { world, life, connection } = parts
  const isRepeatable = command.jobs.every((one) => one.operation !== undefined)
  for (let tries = 1; tries <= TRIES; tries++) {
    const submissions = command.jobs.map((one) => submissionOf(parts, one))
    try {
      const accepted = await sent(connection, submissions, command)
      for (const { job } of accepted) {
        world.note(life.name, `has been told that ${job.id} is accepted`)
        world.see({ what: 'acknowledged', by: life.name, id: job.id })
      }
      return
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) return world.note(life.name, refusal(error))
      if (!isRepeatable) return world.note(life.name, 'does not know whether it was accepted')
      await life.clock.sleep(200 * tries)
    }
  }
}

function sent(connection: Connection, submissions: Submission[], { through, isRolledBack }: SubmitCommand) {
  if (through === 'accept') return connection.accept(submissions)
  return connection.transaction(async (tx) => {
    const accepted =
      through === 'many'
        ? await connection.submitMany(tx, submissions)
        : [await connection.submit(tx, submissions[0]!)]
    for (const { job, isRepeat } of accepted) {
      if (!isRepeat) await tx.put({ table: 'saved', key: job.id, jobId: job.id })
    }
    if (isRolledBack) throw new RolledBack()
    return accepted
  })
}

function submissionOf({ ids, kinds, versionOf, life }: ClientParts, plan: NewJobPlan): Submission {
  const { kind, tenant, operation, isOther, subject, key, priority, inMs, acts } = plan
  return {
    id: ids(),
    kind,
    tenant,
    payload: { acts: acts as never, ...(isOther && { isOther }) },
    deadlineMs: kinds.get(kind)!.deadlineMs,
    ...(operation !== undefined && { operationId: operation }),
    ...(subject !== undefined && { subject, subjectVersion: versionOf(subject) }),
    ...(key !== undefined && { key }),
    ...(priority !== undefined && { priority }),
    ...(inMs !== undefined && { runAtMs: life.clock.nowMs() + inMs }),
  }
}

function refusal(error: unknown): string {
  if (error instanceof QueueFull) return 'is told 429'
  if (error instanceof OperationConflict) return 'is told 409'
  if (error instanceof RolledBack) return 'rolls back'
  return `fails: ${error}`
}
