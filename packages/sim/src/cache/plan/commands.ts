import type { PlanParts } from './generate.ts'
import type { Command } from './plan.ts'

export const KEYS = ['list-a', 'list-b', 'list-c']

/** One thing that is asked for; its id and when are added. */
type Asked = Command extends infer C ? (C extends Command ? Omit<C, 'id' | 'atMs'> : never) : never

/** What is asked for: demand that is now here and now there, hot keys, saves whose writers read elsewhere. */
export function commandsOf(parts: PlanParts): Command[] {
  const { rng, healAtMs, rate, instances } = parts
  const names = instances.map(({ name }) => name)
  const all: { atMs: number; asked: Asked }[] = []
  const add = (atMs: number, asked: Asked) => all.push({ atMs, asked })

  // Demand of the origin: in each stretch one or two instances want more than all of the budget.
  const stretchMs = rng.pick([700, 1_500, 2_500])
  const part = rng.pick([0, 0.7, 1.3])
  for (let atMs = rng.int(0, 500); part > 0 && atMs < healAtMs; atMs += stretchMs) {
    for (const at of rng.is(0.5) ? [rng.pick(names)] : [rng.pick(names), rng.pick(names)]) {
      const overMs = Math.min(stretchMs, healAtMs - atMs)
      const count = Math.ceil((rate * part * overMs) / 1_000)
      add(atMs, { do: 'flood', at, count, overMs: rng.is(0.2) ? 1 : overMs })
    }
  }
  for (let n = rng.int(10, 24); n > 0; n--) {
    const atMs = rng.int(0, healAtMs)
    const key = rng.pick(KEYS)
    const at = rng.pick(names)
    const many = rng.is(0.2) ? names : [at]
    for (const one of many)
      add(atMs, {
        ...{ do: 'read', at: one, key, count: rng.int(1, 12) },
        ...{ overMs: rng.pick([1, 300, 1_500]), isFickle: rng.is(0.15) },
      })
  }
  for (let n = rng.pick([0, 4, 10]); n > 0; n--) {
    const readers = Array.from({ length: rng.int(1, 3) }, () => rng.pick(names))
    add(rng.int(0, healAtMs), {
      ...{ do: 'save', at: rng.pick(names), key: rng.pick(KEYS) },
      ...{ readers, isTold: rng.is(0.85) },
    })
  }
  for (let n = rng.pick([0, 0, 2]); n > 0; n--)
    add(rng.int(0, healAtMs), { do: 'forget', at: rng.pick(names), key: rng.pick(KEYS) })
  for (let n = rng.pick([0, 0, 1, 2]); n > 0; n--)
    add(rng.int(500, healAtMs), { do: 'stop', at: rng.pick(names), forMs: rng.int(10, 3_000) })
  return all
    .sort((a, b) => a.atMs - b.atMs)
    .map(({ atMs, asked }, n) => ({ id: `c${n}`, atMs, ...asked }) as Command)
}
