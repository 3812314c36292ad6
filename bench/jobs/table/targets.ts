/** What Garner's stores are to reach, as data. */
export interface Target {
  store: 'garner-sqlite' | 'garner-postgres'
  case: string
  measure: string
  against: Against
}

/** What a figure is held against. Ratios are Garner's figure divided by the other one. */
export type Against =
  /** The raw limit that is this case's yardstick, at the same durability. */
  | { kind: 'raw'; atLeast: number }
  /** The fastest peer on the same database (or the one named), at equal durability unless it may be weaker. */
  | { kind: 'peer'; peer?: string; mayBeWeaker?: boolean; atLeast?: number; atMost?: number }
  /** Another figure of the same store. */
  | { kind: 'self'; case: string; measure: string; atLeast?: number; atMost?: number }
  /** A figure in the measure's own unit. */
  | { kind: 'value'; atMost: number; unit: string }

const sqlite = (name: string, measure: string, against: Against): Target => ({
  ...{ store: 'garner-sqlite', case: name, measure, against },
})
const postgres = (name: string, measure: string, against: Against): Target => ({
  ...{ store: 'garner-postgres', case: name, measure, against },
})

export const TARGETS: Target[] = [
  sqlite('submit', 'rate', { kind: 'raw', atLeast: 0.85 }),
  sqlite('submit-50', 'rate', { kind: 'raw', atLeast: 10 }),
  sqlite('submit-50', 'rate', { kind: 'peer', peer: 'plainjob', mayBeWeaker: true, atLeast: 1 }),
  sqlite('submit-many', 'rate', { kind: 'raw', atLeast: 0.5 }),
  sqlite('drain', 'ended', { kind: 'raw', atLeast: 0.3 }),
  sqlite('drain', 'ended', { kind: 'peer', atLeast: 20 }),
  sqlite('drain-two', 'ended', { kind: 'self', case: 'drain', measure: 'ended', atLeast: 1 }),
  sqlite('drain-write', 'ended', { kind: 'self', case: 'drain', measure: 'ended', atLeast: 0.5 }),
  sqlite('latency-inside', 'p50', { kind: 'value', atMost: 1.5, unit: 'ms' }),
  sqlite('latency', 'p50', { kind: 'value', atMost: 10, unit: 'ms' }),
  sqlite('waiting-1m', 'started', { kind: 'self', case: 'drain', measure: 'started', atLeast: 0.9 }),
  sqlite('finished-1m', 'ended', { kind: 'self', case: 'drain', measure: 'ended', atLeast: 0.9 }),
  sqlite('memory', 'peak', { kind: 'value', atMost: 75, unit: 'MiB' }),

  postgres('submit', 'rate', { kind: 'raw', atLeast: 0.85 }),
  postgres('submit-50', 'rate', { kind: 'peer', atLeast: 8 }),
  postgres('submit-many', 'rate', { kind: 'peer', atLeast: 1 }),
  postgres('drain', 'ended', { kind: 'peer', atLeast: 1.3 }),
  postgres('drain', 'ended', { kind: 'raw', atLeast: 0.7 }),
  postgres('drain-two', 'ended', { kind: 'self', case: 'drain', measure: 'ended', atLeast: 1 }),
  postgres('drain-write', 'ended', { kind: 'self', case: 'drain', measure: 'ended', atLeast: 0.5 }),
  postgres('latency', 'p50', { kind: 'peer', atMost: 1 }),
  postgres('latency', 'p99', { kind: 'self', case: 'latency', measure: 'p50', atMost: 3 }),
  postgres('waiting-1m', 'started', { kind: 'self', case: 'drain', measure: 'started', atLeast: 0.9 }),
  postgres('waiting-1m', 'started', { kind: 'peer', atLeast: 1.3 }),
  postgres('finished-1m', 'ended', { kind: 'self', case: 'drain', measure: 'ended', atLeast: 0.9 }),
  postgres('memory', 'peak', { kind: 'value', atMost: 105, unit: 'MiB' }),
]

/** Measures in which less is better; in all others more is. */
export function isLessBetter(unit: string): boolean {
  return unit === 'ms' || unit === 'MiB'
}
