/** What a job carries in every case: about what an invoice's job would. */
export interface Payload {
  i: number
  to: string
  kind: string
  /** Monotonic ms at which it was handed over; in the latency cases only. */
  sentMs?: number
}

export function payload(i: number): Payload {
  return { i, to: `user${i}@example.test`, kind: 'invoice' }
}

/** Called at each job's start, with its payload. Returns at once: the jobs of every case do nothing. */
export type Handler = (data: { sentMs?: number }) => void

/** What the store itself says about this configuration. */
export interface Description {
  version: string
  backend: string
  durability: string
  isSynced: boolean
}

export interface Producer {
  /** Resolves when the library says that the job is accepted. */
  add(data: Payload): Promise<unknown>
  /** The library's batch call; one `add` after another where it has none. */
  addMany(data: Payload[]): Promise<unknown>
  close(): Promise<unknown>
}

export interface PeerWorker {
  start(): Promise<void>
  /** Claims nothing more; may return before that is so. */
  stopSoon(): void
  /** Lets what is claimed end, then stops. */
  stop(): Promise<unknown>
}

export interface Monitor {
  /** Jobs that are not done yet, those under way included. */
  remaining(): Promise<number>
  close(): Promise<unknown>
}

/** Sizes for a configuration that is too slow for the usual ones; what was used is in the result's notes. */
export interface Sizes {
  drain?: number
  drainMaxMs?: number
  latency?: number
  memory?: number
  backlog?: number
  window?: number
}

export interface Config {
  /** What is set, in a sentence for the reader of the results. */
  about: string
  /** Jobs per batch call. */
  perCall: number
  sizes?: Sizes
}

/** A job queue that is measured. `config` is a name in `configs`, whose first one is its documented best. */
export interface Peer {
  name: string
  server: 'none' | 'postgres' | 'redis'
  configs: Record<string, Config>
  describe(config: string): Promise<Description>
  /** An empty store with its tables. */
  reset(config: string): Promise<void>
  /** After a large fill: what the database would have done by itself sooner or later. */
  settle?(config: string): Promise<void>
  producer(config: string): Promise<Producer>
  worker(config: string, handler: Handler, use: WorkerUse): Promise<PeerWorker>
  monitor(config: string): Promise<Monitor>
  /** How many rows of the handlers' own there are. Missing where a row and its job's end cannot be one transaction. */
  written?(config: string): Promise<number>
  /**
   * Turns every waiting job into a finished one, as the library would leave it. Missing where the library removes
   * finished jobs: it has no history to slow it down.
   */
  finishAll?(config: string): Promise<void>
}

export interface WorkerUse {
  /** Each job also writes a row of its own, in the transaction that ends it. */
  isWriting: boolean
}

/** What a database or disk gives with no library at all. `case` is the case that it is the yardstick of. */
export interface Limit {
  case: string
  measure: string
  unit: string
  /** Runs for about `ms` and answers in `unit`. */
  run(config: string, ms: number): Promise<number>
}

export interface Limits {
  name: string
  server: 'none' | 'postgres'
  configs: Record<string, { about: string }>
  describe(config: string): Promise<Description>
  limits: Limit[]
}
