import type { Peer } from '../lib/peer.ts'

/** A peer in one of its configurations. */
export interface Contender {
  peer: Peer
  config: string
}

/** The options of a session that cases read. */
export interface Settings {
  /** Length of a round that is measured by time. */
  ms: number
  /** Jobs of a batch submission and of a drain. */
  jobs: number
  /** Jobs that wait or are finished in the large cases. */
  backlog: number
}

/** What one round measured. */
export interface Measured {
  measure: string
  unit: string
  value: number
}
export interface Round {
  measured: Measured[]
  notes: Record<string, number>
}

/** A question that is put to each contender, round by round, in turns. */
export interface Case {
  name: string
  about: string
  /** Missing: every peer. */
  suits?(peer: Peer): boolean
  /** Once for each contender before the rounds, where a store is too large to be made anew for each. */
  prepare?(contender: Contender, settings: Settings): Promise<Record<string, number>>
  round(contender: Contender, settings: Settings): Promise<Round>
  /** How many rounds at most, where one is long. */
  roundsMax?: number
}

export function sizesOf({ peer, config }: Contender) {
  return peer.configs[config]?.sizes ?? {}
}

export function perCallOf({ peer, config }: Contender): number {
  return peer.configs[config]?.perCall ?? 1000
}
