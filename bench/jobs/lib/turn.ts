import type { Case, Contender, Measured, Round, Settings } from '../cases/case.ts'
import type { Description, Limits } from './peer.ts'
import { spawnChild } from './spawn.ts'
import { figureOf } from './statistics.ts'

/** One that takes its turn in the rounds of a case: a peer's configuration, or a raw limit. */
export interface Turn {
  peer: string
  config: string
  description: Description
  prepare(): Promise<Record<string, number>>
  round(): Promise<Round>
}

export async function peerTurn(one: Case, contender: Contender, settings: Settings): Promise<Turn> {
  const { peer, config } = contender
  return {
    peer: peer.name,
    config,
    description: await peer.describe(config),
    prepare: async () => (await one.prepare?.(contender, settings)) ?? {},
    round: () => one.round(contender, settings),
  }
}

/** The limits that belong to the case `name`, each measured in a process of its own. */
export async function limitTurns(
  name: string,
  { limits, config }: { limits: Limits; config: string },
  ms: number,
): Promise<Turn[]> {
  const description = await limits.describe(config)
  return limits.limits
    .filter((one) => one.case === name)
    .map(({ measure, unit }) => ({
      peer: limits.name,
      config,
      description,
      prepare: async () => ({}),
      async round() {
        const child = spawnChild({ role: 'limit', peer: limits.name, config, case: name, measure, ms })
        const { value } = await child.answer('limit', ms + 300_000)
        await child.end(5000)
        return { measured: [{ measure, unit, value }], notes: {} }
      },
    }))
}

/** What one turn has measured so far. */
export class Rounds {
  readonly measures = new Map<string, { unit: string; values: number[] }>()
  notes: Record<string, number> = {}
  noisyRounds = 0
  error: Error | undefined
  readonly #foreignCores: number[] = []

  add({ measured, notes }: Round, { cores, isNoisy }: { cores: number; isNoisy: boolean }): void {
    for (const one of measured) this.#valuesOf(one).push(one.value)
    this.notes = { ...this.notes, ...notes }
    this.#foreignCores.push(cores)
    if (isNoisy) this.noisyRounds++
  }

  /** Cores that others used, the median over the rounds; 0 before the first. */
  get foreignCores(): number {
    return this.#foreignCores.length === 0 ? 0 : figureOf(this.#foreignCores).median
  }

  #valuesOf({ measure, unit }: Measured): number[] {
    const known = this.measures.get(measure) ?? { unit, values: [] }
    this.measures.set(measure, known)
    return known.values
  }
}
