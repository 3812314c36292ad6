import { parseArgs } from 'node:util'

export interface NumberOption {
  fallback: number
  least: number
}

/** `--NAME N` for each of `specs`, whole numbers all of them. A sentence when something is wrong with one. */
export function readNumbers<Name extends string>(
  args: string[],
  specs: Record<Name, NumberOption>,
): Record<Name, number> | string {
  const names = Object.keys(specs) as Name[]
  try {
    const { values } = parseArgs({
      args,
      options: Object.fromEntries(names.map((name) => [name, { type: 'string' as const }])),
    })
    const read = {} as Record<Name, number>
    for (const name of names) {
      const { fallback, least } = specs[name]
      const text = values[name]
      read[name] = text === undefined ? fallback : Number(text)
      if (text !== undefined && (!Number.isInteger(read[name]) || read[name] < least))
        return `--${name} ${text}: expected a whole number, ${least} or more`
    }
    return read
  } catch (error) {
    return (error as Error).message
  }
}
