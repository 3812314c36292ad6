import type { Plan } from './plan.ts'

/**
 * The smallest plan found that still fails: parts are taken out in halves and then one by one (delta debugging; Zeller,
 * 1999), as long as what is left fails in the same way. Chance belongs to names and not to an order (see chanceOf), so
 * what is left goes on as before.
 * @param pass takes out what it can: `tried` runs a smaller plan and answers whether it still fails; `best` is then it
 * @param runsMost runs that may be spent
 */
export async function smallest<P>(
  plan: P,
  {
    isFailing,
    runsMost,
    sizeOf,
    pass,
  }: {
    isFailing: (smaller: P) => Promise<boolean>
    runsMost: number
    sizeOf: (plan: P) => number
    pass: (best: () => P, tried: (smaller: P) => Promise<boolean>) => Promise<void>
  },
): Promise<P> {
  let best = plan
  let runs = 0
  const tried = async (smaller: P): Promise<boolean> => {
    if (runs >= runsMost) return false
    runs++
    if (!(await isFailing(smaller))) return false
    best = smaller
    return true
  }
  for (let size = Number.POSITIVE_INFINITY; sizeOf(best) < size && runs < runsMost; ) {
    size = sizeOf(best)
    await pass(() => best, tried)
  }
  return best
}

/**
 * Takes out faults, commands, then jobs of a command, workers and kinds of trouble.
 * @param isFailing runs a plan; the same plan must always give the same answer
 */
export function shrink(
  plan: Plan,
  isFailing: (smaller: Plan) => Promise<boolean>,
  runsMost = 600,
): Promise<Plan> {
  return smallest(plan, {
    ...{ isFailing, runsMost, sizeOf },
    async pass(best, tried) {
      await without(best().faults, (faults) => tried({ ...best(), faults }))
      await without(best().commands, (commands) => tried({ ...best(), commands }))
      for (let at = 0; at < best().commands.length; at++) {
        const command = best().commands[at]!
        if (command.do !== 'submit' || command.jobs.length < 2) continue
        await without(command.jobs, (jobs) =>
          jobs.length === 0
            ? Promise.resolve(false)
            : tried({ ...best(), commands: best().commands.with(at, { ...command, jobs }) }),
        )
      }
      await without(best().workers, (workers) =>
        workers.length === 0 ? Promise.resolve(false) : tried({ ...best(), workers }),
      )
      await tried({ ...best(), hints: { lost: 0, repeated: 0, mostDelayMs: 0 } })
      await tried({ ...best(), latency: { mostMs: 0, slowMs: 0, slowOneIn: 1_000_000 } })
      await tried({ ...best(), workers: best().workers.map((one) => ({ ...one, skewMs: 0 })) })
    },
  })
}

/** Takes parts out of a list, large ones first, each time that what is left still fails. */
export async function without<T>(list: T[], isFailing: (fewer: T[]) => Promise<boolean>): Promise<void> {
  let left = list
  for (let part = Math.max(1, Math.ceil(left.length / 2)); left.length > 0; part = Math.ceil(part / 2)) {
    for (let at = 0; at < left.length; ) {
      const fewer = [...left.slice(0, at), ...left.slice(at + part)]
      if (await isFailing(fewer)) left = fewer
      else at += part
    }
    if (part === 1) return
  }
}

function sizeOf({ faults, commands, workers }: Plan): number {
  const jobs = commands.flatMap((one) => (one.do === 'submit' ? one.jobs : []))
  return faults.length + commands.length + jobs.length + workers.length
}

/** A plan as a person reads it: one line for each command and each fault, in order of time. */
export function scheduleOf({ workers, kinds, commands, faults }: Plan): string[] {
  const used = new Set(
    commands.flatMap((one) => (one.do === 'submit' ? one.jobs.map(({ kind }) => kind) : [])),
  )
  return [
    ...workers.map((one) => `worker  ${JSON.stringify(one)}`),
    ...kinds.filter(({ kind }) => used.has(kind)).map((one) => `kind    ${JSON.stringify(one)}`),
    ...commands.map(({ atMs, ...one }) => `${String(atMs).padStart(6)}  ${JSON.stringify(one)}`),
    ...faults.map((one) => `fault   ${JSON.stringify(one)}`),
  ]
}
