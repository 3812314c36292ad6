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
  const part = rng.pick([0, 0.6, 1.2])
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
  // Just before something changes, others read it: their loads are under way and have not seen it.
  const readers = (atMs: number, at: string, key: string) =>
    add(Math.max(0, atMs - 10), { do: 'read', at, key, count: 3, overMs: 15, isFickle: false })
  for (let n = rng.pick([0, 4, 10]); n > 0; n--) {
    const [atMs, at, key] = [rng.int(0, healAtMs), rng.pick(names), rng.pick(KEYS)]
    const next = Array.from({ length: rng.int(1, 3) }, () => rng.pick(names))
    if (rng.is(0.6)) readers(atMs, rng.is(0.5) ? at : next[0]!, key)
    add(atMs, {
      ...{ do: 'save', at, key, readers: next, withinMs: rng.pick([8, 8, 400]) },
      isTold: rng.is(0.85),
    })
    if (rng.is(0.4)) readers(atMs + 40, at, key)
  }
  for (let n = rng.pick([0, 0, 3]); n > 0; n--) {
    const [atMs, at, key] = [rng.int(0, healAtMs), rng.pick(names), rng.pick(KEYS)]
    if (rng.is(0.6)) readers(atMs, at, key)
    add(atMs, { do: 'forget', at, key })
    if (rng.is(0.6)) readers(atMs + 30, at, key)
  }
  // A deployment: who leaves was busy until then, and its readers go elsewhere.
  for (let n = rng.pick([0, 0, 1, 2]); n > 0; n--) {
    const [atMs, at] = [rng.int(1_500, healAtMs), rng.pick(names)]
    const flood = (from: number, on: string, overMs: number) =>
      add(from, { do: 'flood', at: on, count: Math.ceil((rate * overMs) / 1_000), overMs })
    if (rng.is(0.7)) {
      flood(atMs - 1_500, at, 1_500)
      flood(atMs, rng.pick(names), 1_200)
    }
    add(atMs, { do: 'stop', at, forMs: rng.int(10, 3_000) })
  }
  return all
    .sort((a, b) => a.atMs - b.atMs)
    .map(({ atMs, asked }, n) => ({ id: `c${n}`, atMs, ...asked }) as Command)
}
