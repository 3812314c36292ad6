import type { Instance } from './instance.ts'

/** What an instance takes in memory; null where it cannot be known. */
export interface Weight {
  name: string
  /** As the kernel counts it (/proc): with garbage that the runtime has not collected yet. */
  residentMb: number | null
  /** What it keeps once all garbage is collected. */
  keptMb: number | null
}

/** One after the other, so that only one at a time stops for it. */
export async function weigh(instances: readonly Instance[]): Promise<Weight[]> {
  const weights: Weight[] = []
  for (const one of instances) {
    const { name, residentMb } = one
    weights.push({ name, residentMb, keptMb: await one.keptMb() })
  }
  return weights
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
