import { cpus, totalmem } from 'node:os'

/** One figure with its spread over the rounds of a run, and the target it is held against. */
export interface Measure {
  what: string
  unit: string
  values: number[]
  /** `min`: at least; `max`: at most. */
  target?: { min?: number; max?: number }
}

export interface Case {
  name: string
  /** What is compared with what, in a sentence. */
  about: string
  run(): Promise<Measure[]>
}

export function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

export function isMet({ values, target }: Measure): boolean | null {
  if (!target) return null
  const value = median(values)
  return (
    value >= (target.min ?? Number.NEGATIVE_INFINITY) && value <= (target.max ?? Number.POSITIVE_INFINITY)
  )
}

/** A row of the table in the results. */
export function row(measure: Measure): string {
  const { what, unit, values, target } = measure
  const met = isMet(measure)
  const wanted = target
    ? [target.min !== undefined && `≥ ${target.min}`, target.max !== undefined && `≤ ${target.max}`]
    : []
  const verdict = met === null ? '' : met ? 'met' : '**missed**'
  const [low, high] = [Math.min(...values), Math.max(...values)]
  return `| ${what} | ${show(median(values))} ${unit} | ${show(low)} to ${show(high)} | ${wanted.filter(Boolean).join(' ')} | ${verdict} |`
}

export function show(value: number): string {
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en')
  return value.toFixed(Math.abs(value) >= 10 ? 1 : 2)
}

export function machine(): string {
  const [first] = cpus()
  return `${first?.model.trim() ?? 'unknown processor'}, ${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}, ${process.platform}`
}
