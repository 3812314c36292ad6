import { createHash } from 'node:crypto'
import { channel } from 'node:diagnostics_channel'
import { type BudgetLedger, bytesCodec, Cache, OriginBudget, type SharedEntries } from '@garner/cache'
import type { Around, Clock, Database } from '@garner/db'
import type { Logger } from 'pino'
import type { ChangeCount } from './change-count.ts'
import type { Config } from './config.ts'
import type { Metrics } from './features/operations/metrics.ts'
import { type ListPage, pageCodec } from './features/reading/list-page.ts'
import { ListReads } from './features/reading/list-reads.ts'
import type { People } from './features/reading/people.ts'
import { Replica } from './features/reading/replica.ts'
import { Stamps } from './features/reading/stamps.ts'

/**
 * Lists on the cache: one origin budget per process, with which both caches of list-reads.ts ask the database.
 *
 * The budget runs only where lists are read. It is refused, not unlimited, wherever it cannot be renewed; workers have
 * the caches without it, to say that a list has changed.
 */
export interface CachedListsOptions {
  config: Config
  db: Database
  replica: Pick<Database, 'readWithin'> | undefined
  ledger: BudgetLedger
  shared: SharedEntries | undefined
  clock: Clock
  random: () => number
  randomBytes: (n: number) => Uint8Array
  processName: string
  secret: string
  logger: Logger
  metrics: Metrics
  around: Around
  people: People
  changes: ChangeCount
}

export interface CachedLists {
  lists: ListReads
  budget: OriginBudget
  /** What the whole fleet holds of the budget now, for the operator. Errors: StoreUnavailable. */
  standing: () => ReturnType<BudgetLedger['standing']>
  /** From now on a share is held, and lists can be read. */
  run: () => void
  /** Gives the share back, then lets go of everything. */
  close: () => Promise<void>
}

/** The name of the budget in the ledger. */
const BUDGET = 'list-reads'
/** A list is read in milliseconds; at 2 s the database is stuck. Half a second more for a load to end when told to. */
const LOAD_MS = 2_000
const LOAD_MAX_MS = LOAD_MS + 500
/** Open pages look every 15 s. Where none is open, nothing is written to the disk once a second for a share. */
const IDLE_MS = 30_000
/** About 600 first pages of 200 links, or 2,400 of 50. */
const MEMORY_MAX_BYTES = 64 * 1024 * 1024

const NOT_KEPT = { freshMs: 0, maxAgeMs: LOAD_MAX_MS, memoryMaxBytes: 0 }

/** Each read of the origin, as it is sent: for whoever counts them from outside. */
const originReads = channel('garner:origin-read')

export function createCachedLists(options: CachedListsOptions): CachedLists {
  const { config, db, replica, shared, clock, random, processName, secret, logger } = options
  const { metrics, around, people } = options
  const incarnation = Buffer.from(options.randomBytes(16)).toString('hex')
  const ledger = withFaults(options.ledger, around)
  const budget = new OriginBudget({
    ...{ ledger, budget: BUDGET, holder: processName, incarnation, clock, random },
    capacity: {
      rate: config.originReadsPerSecond,
      concurrency: config.originConcurrency,
      loadMaxMs: LOAD_MAX_MS,
    },
    idleMs: IDLE_MS,
    onFault: (error) => {
      const { name, code } = error as { name?: string; code?: string }
      logger.warn({ error: name, code }, 'the share of the origin budget was not renewed')
    },
  })
  const common = {
    ...{ budget, clock, random, incarnation, waitMs: config.readWaitMs, loadMs: LOAD_MS },
  }
  // Where no copy may be kept, what is read is for those who waited for it: it goes through the budget, and is read once
  // for all who ask the same.
  const kept =
    config.maxStaleMs > 0
      ? { freshMs: config.freshMs, maxAgeMs: config.maxStaleMs, memoryMaxBytes: MEMORY_MAX_BYTES, shared }
      : NOT_KEPT
  const pages = new Cache<ListPage>({ ...common, ...kept, codec: pageCodec(secret) })
  const direct = new Cache<Uint8Array>({ ...common, ...NOT_KEPT, codec: bytesCodec })
  const lists = new ListReads({
    ...{
      primary: db,
      replica: replica && new Replica(replica, clock),
      people,
      clock,
      around,
      pages,
      direct,
    },
    ...{ stamps: new Stamps({ read: db.read, changes: options.changes }), waitMs: config.readWaitMs },
    loadMs: LOAD_MS,
    onOrigin: () => {
      metrics.originRead()
      if (originReads.hasSubscribers) originReads.publish(null)
    },
  })
  const stop = new AbortController()
  let running: Promise<void> | null = null
  metrics.watch(() => {
    const { memory, shared } = pages.counters()
    const sharedFailures = shared && shared.failures + shared.skipped
    return { ...budget.counters(), memoryBytes: memory.bytes, sharedFailures }
  })
  return {
    lists,
    budget,
    standing: () => options.ledger.standing(BUDGET),
    run() {
      running ??= budget.run(stop.signal)
    },
    async close() {
      stop.abort('closing')
      await running
      await Promise.all([pages.close(), direct.close()])
    },
  }
}

/** Keys of one installation: those of another that uses the same server have another secret. */
export function sharedPrefix(secret: string): string {
  const name = createHash('sha256').update(secret).digest('hex').slice(0, 12)
  return `garner:${name}:lists1:`
}

function withFaults(ledger: BudgetLedger, around: Around): BudgetLedger {
  return { ...ledger, lease: (budget, ask) => around('budget.renew', () => ledger.lease(budget, ask)) }
}
