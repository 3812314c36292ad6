/** `1 link`, `23 links`. */
export function count(n: number, one: string, many: string): string {
  return `${n.toLocaleString('en-GB')} ${n === 1 ? one : many}`
}

const SMALL = ['no', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten']
const ORDINALS = ['First', 'Second', 'Third', 'Fourth', 'Fifth', 'Sixth']

export function inWords(n: number): string {
  return SMALL[n] ?? String(n)
}

/** `Second`, for the second try; `Try 7` where no word is at hand. */
export function ordinalTry(n: number): string {
  const word = ORDINALS[n - 1]
  return word ? `${word} try` : `Try ${n}`
}

/** `Alice`, `Alice and Bob`, `Alice, Bob and Mei`. */
export function names(list: string[]): string {
  if (list.length < 2) return list[0] ?? 'nobody'
  return `${list.slice(0, -1).join(', ')} and ${list.at(-1)}`
}
