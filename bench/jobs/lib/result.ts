/**
 * One line of a results file: what one contender reached in one measure of one case, round by round. Lines of one
 * session were measured in turns and may be divided by each other; lines of two sessions may not, since a shared
 * machine drifts by tens of percent within the hour.
 */
export interface Result {
  /** Start of the session, ISO 8601. */
  session: string
  machine: string
  peer: string
  config: string
  /** Of the library; for the raw limits, of the driver. */
  version: string
  backend: string
  /** In words, as the store itself reports it. */
  durability: string
  /** Whether what was answered survives power loss: the lines that may be compared as equals. */
  isSynced: boolean
  case: string
  measure: string
  unit: string
  /** In the order of the rounds. Empty when the contender could not be measured; `error` then says why. */
  values: number[]
  error?: string
  /** Cores that programs which are not the benchmark's used meanwhile: the median over the rounds. */
  foreignCores: number
  /** Rounds that could not be had quietly. */
  noisyRounds: number
  /** Sizes and side figures: how many jobs, how many in a batch. */
  notes: Record<string, number>
}

/** The lines of a results file. Errors: SyntaxError for a line that is not JSON. */
export function parseResults(text: string): Result[] {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line) as Result)
}

/** Six significant digits: more than a shared machine can repeat, and lines that can be read. */
export function resultLine(result: Result): string {
  const values = result.values.map((value) => Number(value.toPrecision(6)))
  const foreignCores = Number(result.foreignCores.toFixed(3))
  return `${JSON.stringify({ ...result, values, foreignCores })}\n`
}
