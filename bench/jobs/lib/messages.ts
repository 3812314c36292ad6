/** What a session and the processes that it measures say to each other, over Node's IPC channel. */

/** How a producer offers load. Durations and intervals in ms. */
export type Load =
  | { load: 'awaited'; ms: number }
  | { load: 'callers'; callers: number; ms: number }
  | { load: 'batches'; jobs: number; perCall: number; maxMs: number; isWarmed: boolean }
  | { load: 'paced'; jobs: number; everyMs: number }

export interface WorkerTask {
  /** Stops by itself after this many jobs, or this long after the first one. */
  stopAfter?: number
  maxMs?: number
  isWriting?: boolean
}

export type Task =
  | { role: 'producer'; peer: string; config: string; load: Load }
  | { role: 'worker'; peer: string; config: string; task: WorkerTask }
  /** Producer and worker in one process. */
  | { role: 'both'; peer: string; config: string; load: Load & { load: 'paced' } }
  | { role: 'limit'; peer: string; config: string; case: string; measure: string; ms: number }

export interface Produced {
  type: 'produced'
  jobs: number
  ms: number
}

export interface Worked {
  type: 'worked'
  /** Handlers started. */
  count: number
  /** Monotonic ms of the first and the last start; 0 when there was none. */
  firstMs: number
  lastMs: number
  /** When start number 50, 100, 150, … was made. */
  marksMs: number[]
  latenciesMs: number[]
  /** The largest resident memory so far, in bytes, as the kernel counts it. */
  peakBytes: number
}

export type FromChild =
  | { type: 'ready' }
  | { type: 'progress'; count: number; firstMs: number }
  | Produced
  | Worked
  | { type: 'stopped'; peakBytes: number }
  | { type: 'limit'; value: number }
  | { type: 'failed'; error: string }

export type FromSession = { type: 'go' } | { type: 'stop' }
