import type { BudgetLedger, SharedEntries } from '@garner/cache'
import type { Clock, Database, Queryable, Transaction } from '@garner/db'
import { pendingMigrations, StoreUnavailable } from '@garner/db'
import { JobMetrics, type JobStore, type Retention, Worker } from '@garner/jobs'
import type { Logger } from 'pino'
import { createCachedLists } from './cached-lists.ts'
import { type ChangeCount, changeCountOf } from './change-count.ts'
import type { Config } from './config.ts'
import type { Backend } from './database.ts'
import { createDiary } from './diary.ts'
import { createAround, InjectedFault } from './faults.ts'
import { createAccounts } from './features/accounts/index.ts'
import { diaryChanges } from './features/meals/diary-changes.ts'
import { parkedBy, unpark } from './features/meals/estimating.ts'
import { foodTable } from './features/meals/food/table.ts'
import { withTable } from './features/meals/food/with-table.ts'
import type { Pictures } from './features/meals/photo/index.ts'
import { Metrics } from './features/operations/metrics.ts'
import { registerOperations } from './features/operations/routes.ts'
import { ATTEMPTS_MAX, fetchTitle } from './features/reading/fetch-title.ts'
import { deleteLinksOf, forgetGroups, type LinkDeps } from './features/reading/links.ts'
import { listChanges } from './features/reading/list-changes.ts'
import { busy } from './features/reading/list-route.ts'
import { marked, type Tell } from './features/reading/lists.ts'
import { pageKey } from './features/reading/page-key.ts'
import { groupCounts } from './features/reading/queries.ts'
import { registerReading } from './features/reading/routes.ts'
import { checkSavedUrl } from './features/reading/saved-url.ts'
import { type App, createApp } from './http.ts'
import { sweep as sweepAnswers } from './idempotency.ts'
import { createIds } from './ids.ts'
import { Changes, type Standing } from './live/changes.ts'
import { registerEvents } from './live/events.ts'
import type { Vision } from './outbound/vision.ts'
import { createPages, type FetchPage } from './pages.ts'
import { createProvider } from './provider.ts'
import { makeSeal } from './seal.ts'
import { registerWeb } from './web.ts'

/** Everything that is made once per process, wired together: the only place where concrete things are chosen. */
export interface Parts {
  config: Config
  backend: Backend
  db: Database
  /** A copy that may lag behind, for reads of lists; undefined for none. */
  replica?: Pick<Database, 'readWithin'> | undefined
  /** The shared cache; closed by whoever opened it. */
  shared?: SharedEntries | undefined
  /** Where the origin budget is kept, if not in the database; for tests. */
  ledger?: BudgetLedger | undefined
  /** How changes of others are noticed, if not as the database allows; for tests. */
  changeCount?: ChangeCount | undefined
  clock: Clock
  random: () => number
  randomBytes: (n: number) => Uint8Array
  /** Names this process among the workers. */
  processName: string
  secret: string
  logger: Logger
  /** Pages from somewhere else than the network; for tests. */
  fetchPage?: FetchPage | undefined
  /** A vision model in place of the configured one; for tests. */
  vision?: Vision | undefined
  /** Reads pictures in place of processes of their own; for tests. */
  pictures?: Pictures | undefined
}

export interface Garner {
  jobs: JobStore<Transaction>
  /** The HTTP side; made when first asked for, since workers need none. */
  web: () => Promise<{ app: App; close: () => Promise<void> }>
  worker: Worker<Transaction>
  /** Loads what the first fetch and the first sign-in would otherwise wait for. */
  warmUp: () => Promise<void>
  /** Puts right what the process before this one left. Errors: StoreUnavailable. */
  start: (as: { isWorker: boolean }) => Promise<void>
  /** Drops what is kept for a time only, once. */
  sweep: () => Promise<void>
  /** Gives back what the fleet shares, after the web side is closed and the worker has ended. */
  close: () => Promise<void>
}

/** 32: attempts wait for other people's servers nearly all the time, and cost little memory while they do. */
const SLOTS = 32
/** 250 ms: how late a worker in another process notices a save. In this process a save wakes it at once. */
const POLL_MS = 250
/** 1,000: at a quarter of a second each, four times what one process can answer. More would only wait longer. */
const LIST_READS_MAX = 1_000
const DAY_MS = 24 * 3_600_000
/**
 * Finished jobs for 30 days, for whoever asks why a title is missing; J5: operation ids for 7; records of what was
 * paid for a year, as bills are. 1,000 of each at a time: a transaction of some tens of milliseconds.
 */
const RETENTION: Retention = {
  ...{ finishedMs: 30 * DAY_MS, operationsMs: 7 * DAY_MS, stepsMs: 366 * DAY_MS, limit: 1_000 },
}

export function createGarner(parts: Parts): Garner {
  const {
    config,
    backend,
    db,
    clock,
    random,
    randomBytes,
    processName,
    secret,
    logger,
    fetchPage: scripted,
  } = parts
  const nowMs = () => clock.nowMs()
  const ids = createIds({ nowMs, randomBytes })
  // A save that fails is a fault of ours, and spends a try; what is out of order elsewhere is waited for.
  const around = createAround(config.fault, clock, (point) =>
    point === 'publish.before-commit'
      ? new InjectedFault(point)
      : new StoreUnavailable('injected', `at ${point}`),
  )
  const jobs = backend.createJobs(db, {
    clock,
    isAhead: config.advanceMs > 0,
    bounds: { perTenant: config.maxPending, total: config.maxPendingTotal },
  })
  const jobMetrics = new JobMetrics({ clock, store: jobs })
  const metrics = new Metrics(jobMetrics)
  const changeCount = parts.changeCount ?? changeCountOf(db)
  const changes = new Changes({ db, clock, standingOf, watched: [listChanges, diaryChanges] })
  const { fetchPage, isFixture, load } = createPages({ config, clock, metrics, scripted })
  const vision = parts.vision ?? createProvider(config, clock)

  const tell: Tell = (group, stamp) => lists.changed(group, stamp)
  const links: LinkDeps = { jobs, ids, nowMs, isFixture, pageKey, tell }
  const accounts = createAccounts({
    ...{ db, clock, ids, randomBytes, secret, logger, isDemo: config.isDemo },
    // Without faults the plain read: the seam's guard against a silent database costs a turn of the event loop.
    around: config.fault === '' ? undefined : around,
    purges: {
      queue: async (userId) => {
        await db.transaction((tx) => jobs.forgetTenant(tx, userId))
      },
      photos: (userId) => diary.purgePhotos(userId),
      rows: async (tx, userId, endedGroups) => {
        await deleteLinksOf(tx, links, userId)
        await forgetGroups(tx, links, endedGroups)
        await diary.purgeRows(tx, userId)
        await jobs.forgetTenant(tx, userId)
      },
    },
    countsOf: (userId, groups) => groupCounts(db.read, userId, groups),
    marksShown: async (tx, group) => {
      await marked(tx, tell, group)
    },
    onChange: () => changes.hint(),
    ...{ accessMaxAgeMs: config.accessMaxAgeMs, readWaitMs: config.readWaitMs, changes: changeCount },
    listen: (channel, wake) => backend.listen(db, channel, wake),
  })
  const { people } = accounts
  const cachedLists = createCachedLists({
    changes: changeCount,
    ...{ config, db, replica: parts.replica, ledger: parts.ledger ?? backend.createLedger(db) },
    ...{
      shared: parts.shared,
      clock,
      random,
      randomBytes,
      processName,
      secret,
      logger,
      metrics,
      around,
      people,
    },
  })
  const { lists } = cachedLists

  const diary = createDiary({
    ...{ config, db, clock, ids, randomBytes, jobs, around, metrics, people },
    seal: makeSeal({ secret, randomBytes }),
    ...{ vision, pictures: parts.pictures },
    outcomeOf: withTable,
    onWork: () => worker.wake(),
    onChange: () => changes.hint(),
  })

  const kinds = [
    ...diary.kinds,
    fetchTitle({
      ...{ fetchPage, pageKey, isApproved: people.isApproved, nowMs, around, read: db.read, tell },
      ...{ retryBaseMs: config.retryBaseMs, fetchDeadlineMs: config.fetchDeadlineMs },
    }),
  ]
  const worker = new Worker({
    store: jobs,
    read: db.read,
    clock,
    random,
    around,
    name: processName,
    slots: SLOTS,
    leaseMs: config.leaseMs,
    pollMs: POLL_MS,
    kinds,
    onFault: (claim, error) => {
      const { name, code } = error as { name?: string; code?: string }
      logger.error({ job: claim?.job.id, kind: claim?.job.kind, error: name, code }, 'worker fault')
    },
    onStart: jobMetrics.started,
    onEnd: (claim, end) => {
      jobMetrics.ended(claim, end)
      // What went as it should is counted, not written: at thousands a minute the lines would cost more than the work.
      const level = end === 'published' || end === 'superseded' ? 'debug' : 'info'
      const { id, kind, attempt, epoch } = claim.job
      logger[level]({ job: id, kind, attempt, epoch, end }, 'attempt ended')
      changes.hint()
    },
  })

  let hearing: ReturnType<typeof accounts.hear> = null
  async function web(): Promise<{ app: App; close: () => Promise<void> }> {
    if (config.isDemo) await accounts.seedDemo()
    cachedLists.run()
    hearing ??= accounts.hear()
    // Made once: turning somebody away must cost next to nothing.
    const crowded = busy(1_000)
    const app = createApp({
      logger,
      authenticate: accounts.authenticate,
      isLoopbackOnly: config.isDemo,
      admit: (request) => {
        if (!request.routeOptions.config?.isListRead || metrics.readsInFlight < LIST_READS_MAX) return
        metrics.readBegan()('rejected')
        throw crowded
      },
      onProblem: (problem) => {
        if (problem.type === 'queue-full') metrics.rejected('bound')
        if (problem.type === 'upload-rate') metrics.rejected('rate')
      },
      onResponse: (request, status, ms) => metrics.request(request.routeOptions.url ?? 'none', status, ms),
    })
    accounts.register(app)
    registerReading(app, {
      ...{ ...links, db, people, around, isDemo: config.isDemo, attemptsMax: ATTEMPTS_MAX },
      checkUrl: checkSavedUrl,
      onChange: () => changes.hint(),
      onWork: () => worker.wake(),
      onRead: () => metrics.readBegan(),
      ...{
        lists,
        groupsOf: accounts.groupsOf,
        freshMs: config.freshMs,
        monotonicMs: () => clock.monotonicMs(),
      },
    })
    diary.register(app)
    const endStreams = registerEvents(app, { changes, clock })
    registerOperations(app, {
      jobs,
      metrics,
      missing: async () =>
        (await pendingMigrations(db, backend.migrations)).map((name) => `migration ${name}`),
      onWork: () => worker.wake(),
      originBudget: cachedLists.standing,
      vision,
      visionParked: async () => vision.parked() ?? (await parkedBy(jobs)),
      onVisionWorks: async () => {
        await unpark(jobs)
        worker.wake()
      },
      nowMs,
      onDiscard: async (tx, job) => {
        await kinds.find(({ kind }) => kind === job.kind)?.discarded?.(tx, job)
      },
      onRepair: diary.repaired,
    })
    await registerWeb(app)
    return {
      app,
      close: async () => {
        endStreams()
        await app.close()
      },
    }
  }

  return {
    jobs,
    web,
    worker,
    async warmUp() {
      await load()
      if (!config.isDemo) await accounts.warmUp()
      if (config.role === 'all' && vision.isConfigured) await Promise.all([vision.load?.(), foodTable()])
    },
    start: (as) => diary.start(as),
    async sweep() {
      let gone: number
      do {
        const { jobs: ended, operations, steps } = await jobs.prune(RETENTION)
        gone = Math.max(ended, operations, steps)
      } while (gone === RETENTION.limit)
      await db.transaction((tx) => sweepAnswers(tx, nowMs()))
      await accounts.sweep()
      await diary.sweep()
    },
    async close() {
      await Promise.all([hearing?.close(), cachedLists.close(), diary.close(), vision.close()])
    },
  }
}

async function standingOf(query: Queryable, userId: string): Promise<Standing> {
  const user = await query.get<{ status: string }>('SELECT status FROM users WHERE id = ?', userId)
  const groups = await query.all<{ group_id: string }>(
    'SELECT group_id FROM memberships WHERE user_id = ?',
    userId,
  )
  return {
    userId,
    status: user?.status ?? 'gone',
    groups: user?.status === 'approved' ? groups.map((one) => one.group_id) : [],
  }
}
