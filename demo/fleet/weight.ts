import type { Instance } from './instance.ts'

/** What an instance takes in memory; null where it cannot be known. */
export interface Weight {
  name: string
  /** As the kernel counts it (/proc): with garbage that the runtime has not collected yet. */
  residentMb: number | null
  /** What it keeps once all garbage is collected. */
  keptMb: number | null
}

/** All of them at once. */
export function weigh(instances: readonly Instance[]): Promise<Weight[]> {
  return Promise.all(
    instances.map(async (one) => {
      const { name, residentMb } = one
      return { name, residentMb, keptMb: await one.keptMb() }
    }),
  )
}

/** Of those that were weighed both times, how one of their weights went from the first time to the second. */
export function changesOf(
  [first = [], second = []]: readonly Weight[][],
  weight: 'residentMb' | 'keptMb',
): { from: number; to: number }[] {
  return first.flatMap((before) => {
    const from = before[weight]
    const to = second.find(({ name }) => name === before.name)?.[weight]
    return from === null || to === null || to === undefined ? [] : [{ from, to }]
  })
}
