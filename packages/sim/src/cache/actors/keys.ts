/** All keys of a run are in one scope, as one group's lists are. */
export const SCOPE = 'group'

/** The key of an address in SCOPE, which the library writes with the scope's length in front. */
export function keyOf(address: string): string {
  return address.slice(address.indexOf(SCOPE) + SCOPE.length)
}
