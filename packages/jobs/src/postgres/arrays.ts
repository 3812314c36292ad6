/**
 * Many rows as one parameter each column. Arrays are passed as text, `{…}`, and cast in the statement, since each
 * driver that a caller's transaction may come from would otherwise write them in its own way.
 */
export function textArray(values: readonly (string | null)[]): string {
  return `{${values.map(quoted).join(',')}}`
}

export function numberArray(values: readonly (number | null)[]): string {
  return `{${values.map((one) => one ?? 'NULL').join(',')}}`
}

/** What a column says of all rows alike as its one value: the functions repeat the first one. */
export function orOne<T>(values: readonly T[]): readonly T[] {
  const [first] = values
  return values.every((one) => one === first) ? values.slice(0, 1) : values
}

/** A column that says nothing as no value at all: the functions read that as null for all rows. */
export function orNone<T>(values: readonly (T | null)[]): readonly (T | null)[] {
  return values.every((one) => one === null) ? [] : values
}

/** The numbers of a `bigint[]` that came as text. */
export function numbersOf(text: string): number[] {
  return text === '{}' ? [] : text.slice(1, -1).split(',').map(Number)
}

/** JSON texts in one parameter: none of them contains a line feed, so nothing needs escaping. */
export function lines(texts: readonly string[]): string {
  return texts.join('\n')
}

function quoted(value: string | null): string {
  if (value === null) return 'NULL'
  return `"${SPECIAL.test(value) ? value.replaceAll(/["\\]/g, '\\$&') : value}"`
}

const SPECIAL = /["\\]/
