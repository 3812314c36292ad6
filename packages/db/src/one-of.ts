import type { Value } from './database.ts'

/**
 * What stands behind IN for any number of values: `WHERE id IN ${oneOf.marks}`, with `oneOf.values` as its parameters.
 * From 8 values on it is filled up to a multiple of 8 with the last one, so that a statement has few texts and stays
 * prepared. No values: nothing matches. Pure.
 */
export function oneOf(values: readonly Value[]): { marks: string; values: Value[] } {
  const size = values.length <= 8 ? Math.max(1, values.length) : 8 * Math.ceil(values.length / 8)
  const last = values.at(-1) ?? null
  const filled = Array.from({ length: size }, (_, place) => values[place] ?? last)
  return { marks: `(${filled.map(() => '?').join(', ')})`, values: filled }
}
