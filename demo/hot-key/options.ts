import { type NumberOption, readNumbers } from '../options.ts'

export interface Options {
  instances: number
  /** Who come at once, over all instances. */
  readers: number
  /** So many times with the shared cache, and so many without it. */
  rounds: number
  /** What the whole fleet may ask of the database in any second. */
  budget: number
}

const SPECS: Record<keyof Options, NumberOption> = {
  instances: { fallback: 10, least: 2 },
  readers: { fallback: 200, least: 2 },
  rounds: { fallback: 3, least: 1 },
  budget: { fallback: 100, least: 4 },
}

/** A sentence when something is wrong with them. */
export function readOptions(args: string[]): Options | string {
  return readNumbers(args, SPECS)
}
