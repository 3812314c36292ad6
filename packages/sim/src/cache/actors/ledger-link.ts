import type { BudgetLedger } from '@garner/cache'
import { StoreUnavailable } from '@garner/db'
import type { Life } from '../../world/machine.ts'
import type { Mutation } from '../mutants/mutant.ts'
import type { World } from '../world/world.ts'

/**
 * The way of one life to the ledger and back. Asks fail before the ledger has heard them, or after; answers are lost or
 * late; a later ask overtakes a slow one. What has been sent arrives or not when its process dies.
 */
export function ledgerLink(
  world: World,
  life: Life,
  { ledger, hears }: { ledger: BudgetLedger; hears: Mutation['hears'] },
): BudgetLedger {
  const { machine } = life

  function call<T>(op: string, effect: () => Promise<T>): Promise<T> {
    const n = machine.called(op)
    if (!life.isAlive) return new Promise(() => {})
    const trouble = troubleOf(world, machine.name, op, n)
    world.note(life.name, `${op} ${n}${trouble ? ` (${trouble.do})` : ''}`)
    return new Promise((resolve, reject) => {
      const way = (side: string) => wayMs(world, machine.name, op, n, side)
      const back = (how: () => void) => {
        const lateMs = trouble && trouble.do !== 'cut' ? trouble.byMs : 0
        life.receive(way('back') + lateMs, how)
      }
      const fail = () => back(() => reject(new StoreUnavailable('injected', `calling ${op}`)))
      const arrive = async () => {
        if (!life.isAlive && world.chance(machine.name, op, n, 'lands') < 0.5) return
        if (trouble?.do === 'cut' && trouble.when === 'before') return fail()
        try {
          const answer = await effect()
          if (trouble?.do === 'cut' || trouble?.do === 'lose') return fail()
          back(() => resolve(answer))
        } catch (error) {
          back(() => reject(error))
        }
      }
      life.whenRunning(() => void world.timeline.after(way('there'), () => void arrive()))
    })
  }

  return {
    configure: (budget, capacity) => call('configure', () => ledger.configure(budget, capacity)),
    async lease(budget, ask) {
      const sentMs = world.nowMs
      const lease = await call('lease', async () => {
        const lent = await ledger.lease(budget, ask)
        const standing = await ledger.standing(budget)
        world.note('ledger', `lends ${life.name} ${lent.rate}/s, ${lent.concurrency} at once`)
        world.see({ what: 'lent', life, ask, lease: lent, reserved: standing!.reserved })
        return lent
      })
      world.see({ what: 'heard', life, lease, sentMs })
      return hears?.(lease, { sentMs, nowMs: world.nowMs }) ?? lease
    },
    release: (budget, parting) => call('release', () => ledger.release(budget, parting)),
    standing: (budget) => ledger.standing(budget),
  }
}

function troubleOf(world: World, machine: string, op: string, call: number) {
  if (world.isHealed) return undefined
  const cut = world.holding('cut').find((one) => one.machine === machine)
  if (cut || op !== 'lease') return cut
  const late = world.holding('late').find((one) => one.machine === machine)
  if (late) return late
  const { faults } = world.plan
  for (const one of faults) {
    if ((one.do === 'lose' || one.do === 'delay') && one.machine === machine && one.call === call) return one
  }
  return undefined
}

function wayMs(world: World, ...name: (string | number)[]): number {
  const { mostMs, slowMs, slowOneIn } = world.plan.ledger
  const isSlow = !world.isHealed && world.chance(...name, 'slow') < 1 / slowOneIn
  return world.between(0, isSlow ? slowMs : mostMs, ...name)
}
