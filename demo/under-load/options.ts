import { parseArgs } from 'node:util'

export interface Options {
  /** How long the load lasts, with all scenes in it. */
  seconds: number
  instances: number
  /** Reads per second, over all instances. */
  rate: number
  lists: number
  /** What the whole fleet may ask of the database in any second. */
  budget: number
}

const DEFAULTS: Options = { seconds: 60, instances: 10, rate: 1_000, lists: 200, budget: 100 }
/** 14 s: no share outlives three seconds, and three of the scenes have to be longer than that. */
const LEAST: Options = { seconds: 14, instances: 2, rate: 10, lists: 1, budget: 4 }

/** A sentence when something is wrong with them. */
export function readOptions(args: string[]): Options | string {
  const names = Object.keys(DEFAULTS) as (keyof Options)[]
  try {
    const { values } = parseArgs({
      args,
      options: Object.fromEntries(names.map((name) => [name, { type: 'string' as const }])),
    })
    const options = { ...DEFAULTS }
    for (const name of names) {
      const text = values[name]
      if (text === undefined) continue
      options[name] = Number(text)
      if (!Number.isInteger(options[name]) || options[name] < LEAST[name])
        return `--${name} ${text}: expected a whole number, ${LEAST[name]} or more`
    }
    return options
  } catch (error) {
    return (error as Error).message
  }
}
