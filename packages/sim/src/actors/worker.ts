import type { Queryable } from '@garner/db'
import { type Step, Worker } from '@garner/jobs'
import type { KindPlan, WorkerPlan } from '../plan/plan.ts'
import { Connection } from '../store/connection.ts'
import type { Server } from '../store/server.ts'
import type { SimTransaction } from '../store/sim-transaction.ts'
import type { Life, Machine } from '../world/machine.ts'
import { kindOf } from './handlers.ts'
import type { Provider } from './provider.ts'

export interface WorkerParts {
  server: Server
  provider: Provider
  machine: Machine
  plan: WorkerPlan
  kinds: KindPlan[]
  /** See Mutation. */
  remembersAccounts: boolean
}

/** A machine with the library's worker on it: real code, in a process that may be cut off anywhere. */
export class WorkerProcess {
  readonly machine: Machine
  readonly #parts: WorkerParts
  #running: { worker: Worker<SimTransaction>; loop: AbortController; life: Life } | null = null

  constructor(parts: WorkerParts) {
    this.#parts = parts
    this.machine = parts.machine
    const { timeline } = parts.server.world
    this.machine.onDown = (forMs) => {
      parts.server.world.see({ what: 'died', by: `${this.machine.name}.${this.machine.lives}` })
      timeline.after(forMs, () => {
        if (!this.machine.life) this.start()
      })
    }
  }

  start(): void {
    const { server, provider, plan, kinds, remembersAccounts } = this.#parts
    const { world } = server
    const life = this.machine.start()
    const connection = new Connection(server, life)
    const remembered = remembersAccounts ? new Map<string, boolean>() : null
    const shop = { world, life, connection, provider, leaseMs: plan.leaseMs, remembered }
    let drawn = 0
    const worker = new WatchedWorker(
      {
        store: connection,
        // The handlers' `isAllowed` asks over the connection, so that this read can fail as any other.
        read: {} as Queryable,
        kinds: kinds.map((one) => kindOf(shop, one)),
        clock: life.clock,
        random: () => world.chance(life.name, 'random', ++drawn),
        name: plan.name,
        slots: plan.slots,
        claimMax: plan.claimMax,
        leaseMs: plan.leaseMs,
        pollMs: plan.pollMs,
        onFault: (_claim, error) => world.see({ what: 'fault', by: life.name, error }),
        onEnd: (claim, end) => {
          if (!life.isAlive) return
          world.note(life.name, `${end} ${claim.job.id}@${claim.epoch}`)
          world.see({ what: 'ended', by: life.name, claim, end })
        },
      },
      (error) => {
        world.see({ what: 'fault', by: life.name, error })
        if (this.machine.life !== life) return
        this.machine.crash()
        this.machine.onDown?.(1_000)
      },
    )
    const loop = new AbortController()
    this.#running = { worker, loop, life }
    world.note(life.name, 'starts')
    worker.run(loop.signal).catch((error) => world.see({ what: 'fault', by: life.name, error }))
  }

  /** Asks it to stop and starts it again `forMs` after it has. */
  async stop(graceMs: number, forMs: number): Promise<void> {
    const { world } = this.#parts.server
    const running = this.#running
    if (!running?.life.isAlive) return
    world.note(running.life.name, 'is asked to stop')
    running.loop.abort()
    await running.worker.stop(graceMs)
    if (!running.life.isAlive) return
    this.machine.crash()
    this.machine.onDown?.(forMs)
  }
}

/** An invariant that is broken ends the process in which it is found, as an unhandled rejection would. */
class WatchedWorker extends Worker<SimTransaction> {
  readonly #die: (error: unknown) => void

  constructor(
    options: ConstructorParameters<typeof Worker<SimTransaction>>[0],
    die: (error: unknown) => void,
  ) {
    super(options)
    this.#die = die
  }

  override async step(): Promise<Step> {
    const step = await super.step()
    step.done.catch(this.#die)
    return step
  }
}
