import { type NumberOption, readNumbers } from '../options.ts'

export interface Options {
  /** How long the load lasts with all scenes in it, before one of them is made longer. */
  seconds: number
  /** How long the scene without a shared cache lasts; 0: as `seconds` has it. */
  withoutSharedS: number
  instances: number
  /** Reads per second, over all instances. */
  rate: number
  lists: number
  /** What the whole fleet may ask of the database in any second. */
  budget: number
}

const SPECS = {
  // 14 s: no share outlives three seconds, and three of the scenes have to be longer than that.
  seconds: { fallback: 60, least: 14 },
  'without-shared': { fallback: 0, least: 1 },
  instances: { fallback: 10, least: 2 },
  rate: { fallback: 1_000, least: 10 },
  lists: { fallback: 200, least: 1 },
  budget: { fallback: 100, least: 4 },
} satisfies Record<string, NumberOption>

/** A sentence when something is wrong with them. */
export function readOptions(args: string[]): Options | string {
  const read = readNumbers(args, SPECS)
  if (typeof read === 'string') return read
  const { 'without-shared': withoutSharedS, ...rest } = read
  return { ...rest, withoutSharedS }
}
