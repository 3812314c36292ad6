import { smallest, without } from '../../plan/shrink.ts'
import type { Plan } from './plan.ts'

/** As the jobs' plans are shrunk: faults, commands, how many readers a command brings, and instances are taken out. */
export function shrink(
  plan: Plan,
  isFailing: (smaller: Plan) => Promise<boolean>,
  runsMost = 400,
): Promise<Plan> {
  return smallest(plan, {
    ...{ isFailing, runsMost, sizeOf },
    async pass(best, tried) {
      await without(best().faults, (faults) => tried({ ...best(), faults }))
      await without(best().commands, (commands) => tried({ ...best(), commands }))
      for (let at = 0; at < best().commands.length; at++) {
        for (;;) {
          const one = best().commands[at]!
          if (!('count' in one) || one.count < 2) break
          const fewer = { ...one, count: Math.ceil(one.count / 2) }
          if (!(await tried({ ...best(), commands: best().commands.with(at, fewer) }))) break
        }
      }
      await without(best().instances, (instances) =>
        instances.length === 0 ? Promise.resolve(false) : tried({ ...best(), instances }),
      )
      await tried({ ...best(), ledger: { mostMs: 0, slowMs: 0, slowOneIn: 1_000_000 } })
      await tried({
        ...best(),
        instances: best().instances.map((one) => ({ ...one, skewMs: 0, driftPpm: 0 })),
      })
    },
  })
}

function sizeOf({ faults, commands, instances }: Plan): number {
  const counts = commands.reduce((sum, one) => sum + ('count' in one ? one.count : 1), 0)
  return faults.length + commands.length + counts + instances.length
}

/** A plan as a person reads it: one line for each instance, command and fault. */
export function scheduleOf({ capacity, rules, hasShared, instances, commands, faults }: Plan): string[] {
  return [
    `budget   ${JSON.stringify(capacity)} ${JSON.stringify(rules)}${hasShared ? ', a shared cache' : ''}`,
    ...instances.map((one) => `instance ${JSON.stringify(one)}`),
    ...commands.map(({ atMs, id, ...one }) => `${String(atMs).padStart(7)}  ${JSON.stringify(one)}`),
    ...faults.map((one) => `fault    ${JSON.stringify(one)}`),
  ]
}
