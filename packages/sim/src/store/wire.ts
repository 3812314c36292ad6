import { StoreUnavailable } from '@garner/db'
import type { Mutation } from '../mutants/mutant.ts'
import type { CallFault } from '../plan/plan.ts'
import type { Life } from '../world/machine.ts'
import type { World } from '../world/world.ts'
import type { SimTransaction } from './sim-transaction.ts'

/**
 * The way of one life to the store and back. This is where everything goes wrong:
 * - the process is cut off before a call leaves, or when it has landed; calls that were under way then land or not;
 * - it stands still before a call leaves, or before it takes the answer in;
 * - the call fails before it had an effect, or after;
 * - either way takes long.
 */
export class Wire {
  readonly world: World
  readonly life: Life
  readonly #hears: Mutation['hears']

  constructor(world: World, life: Life, hears?: Mutation['hears']) {
    this.world = world
    this.life = life
    this.#hears = hears
  }

  /** One call: `effect` runs at the server. `within`: the transaction that it is a statement of. */
  call<T>(op: string, effect: () => Promise<T>, within?: SimTransaction): Promise<T> {
    const { world, life } = this
    const { machine } = life
    if (!life.isAlive) return new Promise(() => {})
    const callOfOp = machine.called(op)
    const call = machine.calls
    const fault = world.faultOf({ machine: machine.name, call, op, callOfOp })
    world.note(life.name, `${call} ${op}${nameOf(fault)}`)
    return new Promise((resolve, reject) => {
      if (fault?.do === 'crash' && fault.when === 'before') return crash(world, life, fault.forMs)
      if (fault?.do === 'stall' && fault.when === 'before') life.stall(fault.forMs)
      const answer = (how: () => void, what: string) => {
        world.note('store', `answers ${life.name} ${call} ${op}: ${what}`)
        if (fault?.do === 'crash' && !world.isHealed) return crash(world, life, fault.forMs)
        const lateMs = fault?.do === 'fail' ? fault.inMs : 0
        life.receive(world.latencyMs(machine.name, call, 'back') + lateMs, how)
      }
      const fail = (error: unknown) => {
        within?.abort(error)
        answer(() => reject(error), 'unavailable')
      }
      const arrive = async () => {
        // Whether what a process had sent gets through after its death is chance.
        if (!life.isAlive && world.chance(machine.name, call, 'lands') < 0.5) return
        if (fault?.do === 'fail' && fault.when === 'before') return fail(unavailable(op))
        let value: T
        try {
          value = await effect()
        } catch (error) {
          return answer(() => reject(error), codeOf(error))
        }
        if (fault?.do === 'fail') return fail(unavailable(op))
        const heard = this.#hears?.(op, value) ?? value
        answer(() => resolve(heard as T), said(value))
      }
      const slowMs = fault?.do === 'slow' ? fault.byMs : 0
      life.whenRunning(() => {
        world.timeline.after(world.latencyMs(machine.name, call, 'there') + slowMs, () => void arrive())
        if (fault?.do === 'stall' && fault.when === 'after') life.stall(fault.forMs)
      })
    })
  }

  /**
   * At the server, inside a transaction of its: has the life do `work` and waits for its commit. Rejects, and so
   * rolls back, when the life dies, stands still for too long or a statement fails.
   */
  hold<T>(tx: SimTransaction, work: (tx: SimTransaction) => Promise<T>): Promise<T> {
    const { world, life } = this
    return new Promise<T>((resolve, reject) => {
      const cut = () => tx.abort(unavailable('holding a transaction'))
      const forgetDeath = life.onDeath(cut)
      const tooLong = Number.isFinite(world.heldOpenMs) ? world.timeline.after(world.heldOpenMs, cut) : null
      const close = (end: () => void) => {
        tooLong?.cancel()
        forgetDeath()
        tx.close('it has ended')
        end()
      }
      tx.onAbort((why) => close(() => reject(why)))
      if (!life.isAlive) return cut()
      const way = () => world.latencyMs(life.machine.name, life.machine.calls, 'hold')
      const send = (end: () => void) =>
        life.whenRunning(() => void world.timeline.after(way(), () => close(end)))
      life.receive(way(), () => {
        work(tx).then(
          (value) => send(() => resolve(value)),
          (error) => send(() => reject(error)),
        )
      })
    })
  }
}

function crash(world: World, life: Life, forMs: number): void {
  const { machine } = life
  if (machine.life !== life) return
  world.note(life.name, 'crashes')
  machine.crash()
  machine.onDown?.(forMs)
}

function unavailable(doing: string): StoreUnavailable {
  return new StoreUnavailable('injected', doing)
}

function nameOf(fault: CallFault | undefined): string {
  if (!fault) return ''
  return 'when' in fault ? ` (${fault.do} ${fault.when})` : ` (${fault.do})`
}

function codeOf(error: unknown): string {
  if (error instanceof Error && 'code' in error) return String(error.code)
  return error instanceof Error ? error.name : 'failed'
}

/** Ids and states of an answer, for the trace. */
function said(value: unknown): string {
  return (
    JSON.stringify(value, (key, one) => (key === 'job' && one ? `${one.id}@${one.epoch}` : one)) ?? 'done'
  )
}
