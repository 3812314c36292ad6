/** What became of one run. */
export interface Report {
  /** The first promise that was broken, or null. */
  violation: Violation | null
  trace: string[]
  /** What has happened, and how often, by kind. */
  seen: Map<string, number>
  /** Figures to be added up over runs, and figures of which the largest counts, by what they are. */
  sums: Record<string, number>
  most: Record<string, number>
}

/** A promise that was broken. */
export interface Violation {
  promise: string
  story: string
  atMs: number
}

/** A fault put in on purpose, and the promises of which any finds it. */
export interface Mutant<M> {
  /** The guard that is missing. */
  name: string
  promises: string[]
  mutation: M
}

/** What any plan has: what is asked for, and what goes wrong. */
export interface AnyPlan {
  seed: number
  commands: unknown[]
  faults: unknown[]
}

/** One library's world, as the command line, the search for mutants and the report of a failure need to know it. */
export interface Simulation<P extends AnyPlan, M> {
  /** What is added to `npm run sim --` to run it: nothing, or its option. */
  option: string
  generate: (seed: number) => P
  run: (plan: P, mutation?: M) => Promise<Report>
  shrink: (plan: P, isFailing: (smaller: P) => Promise<boolean>) => Promise<P>
  scheduleOf: (plan: P) => string[]
  mutants: Mutant<M>[]
}
