import type { Instance } from './instance.ts'

/** What some instances say of themselves at /metrics, by name: the sum over all of them, and over all labels. */
export async function metricsOf(instances: readonly Instance[]): Promise<(name: string) => number> {
  const sums = new Map<string, number>()
  for (const instance of instances) {
    const { body } = await instance.ask('/metrics')
    for (const [, name, value] of body.matchAll(/^(\w+)(?:\{.*\})? (\S+)$/gm))
      sums.set(name!, (sums.get(name!) ?? 0) + Number(value))
  }
  return (name) => sums.get(name) ?? 0
}
