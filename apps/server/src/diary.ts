import { availableParallelism } from 'node:os'
import type { Around, Clock, Database, Queryable, Transaction } from '@garner/db'
import type { Job, JobKind, JobStore } from '@garner/jobs'
import type { Config } from './config.ts'
import { type BookDeps, registerBook } from './features/meals/book/book.ts'
import { sweepShares } from './features/meals/book/shares.ts'
import { describePhoto } from './features/meals/describe-photo.ts'
import { diaryChanged } from './features/meals/diary.ts'
import { estimateMeal } from './features/meals/estimate-meal.ts'
import { registerEstimates } from './features/meals/estimate-routes.ts'
import { type EstimatingDeps, unpark } from './features/meals/estimating.ts'
import { Acceptance } from './features/meals/intake/accept.ts'
import { deletePhotosOf, forgetPhotosOf } from './features/meals/intake/purge.ts'
import { reviveFor } from './features/meals/intake/retry.ts'
import { incomingDirOf, registerIntake } from './features/meals/intake/routes.ts'
import { sweepPhotos } from './features/meals/intake/sweep.ts'
import { UploadRate } from './features/meals/intake/upload-rate.ts'
import { createPictures, type Pictures } from './features/meals/photo/index.ts'
import type { Metrics } from './features/operations/metrics.ts'
import type { App } from './http.ts'
import { createFolder } from './outbound/objects.ts'
import type { Vision } from './outbound/vision.ts'
import type { Seal } from './seal.ts'

/** The meal diary, wired together: photos in, the jobs that describe them, the book, what is swept and purged. */
export interface DiaryOptions {
  config: Config
  db: Database
  clock: Clock
  ids: () => string
  randomBytes: (n: number) => Uint8Array
  jobs: JobStore<Transaction>
  around: Around
  metrics: Metrics
  people: BookDeps['people']
  seal: Seal
  vision: Vision
  pictures: Pictures | undefined
  outcomeOf: EstimatingDeps['outcomeOf']
  onWork: () => void
  onChange: () => void
}

export interface Diary {
  kinds: JobKind<Transaction>[]
  register: (app: App) => void
  start: (as: { isWorker: boolean }) => Promise<void>
  sweep: () => Promise<void>
  purgePhotos: (userId: string) => Promise<void>
  purgeRows: (tx: Transaction, userId: string) => Promise<void>
  /** The operator has repaired this job: its entry waits again. */
  repaired: (tx: Transaction, job: Job) => Promise<void>
  close: () => Promise<void>
}

export function createDiary(options: DiaryOptions): Diary {
  const { config, db, clock, ids, jobs, around, metrics, people, vision, onWork, onChange } = options
  const nowMs = () => clock.nowMs()
  const { isApproved } = people
  const objects = createFolder({ dir: config.photosDir, clock, ids })
  const incomingDir = incomingDirOf(config.dataDir)
  const pictures =
    options.pictures ?? createPictures({ clock, cores: availableParallelism(), maxPx: config.photoMaxPx })
  const describing = {
    ...{ vision, outcomeOf: options.outcomeOf, jobs, objects, around, isApproved, nowMs, read: db.read },
    ...{ dailyLimit: config.aiDailyLimit, billingUnknown: config.billingUnknown },
    ...{ retryBaseMs: config.retryBaseMs, visionTimeoutMs: config.visionTimeoutMs },
    onCall: (outcome: string) => metrics.outbound('vision', outcome),
    onBilled: () => metrics.billed(),
    onRefund: () => metrics.refunded(),
    onStart: (job: Job) => void tellOf(db, job.tenant).then(onChange, () => {}),
  }
  const acceptance = new Acceptance({
    ...{ db, clock, ids, jobs, objects, around, isApproved, onWork, onChange },
    maxPending: config.maxPending,
  })
  const rate = new UploadRate({ clock, perMinute: config.uploadsPerMinute })

  const swept = { db, clock, objects, jobs, incomingDir }

  return {
    kinds: [describePhoto(describing), estimateMeal(describing)],
    register(app) {
      registerIntake(app, {
        ...{ db, clock, ids, jobs, objects, pictures, acceptance, rate, incomingDir, onWork, onChange },
      })
      registerEstimates(app, {
        ...{ db, clock, around, jobs, ids, vision, onWork, onChange },
      })
      registerBook(app, {
        ...{ db, jobs, ids, nowMs, objects, people, vision, onChange, seal: options.seal },
        ...{ randomBytes: options.randomBytes, aiDailyLimit: config.aiDailyLimit },
      })
    },
    async start({ isWorker }) {
      if (isWorker) await unpark(jobs)
      await sweepPhotos(swept)
    },
    async sweep() {
      await sweepPhotos(swept)
      await db.transaction((tx) => sweepShares(tx, nowMs()))
    },
    purgePhotos: (userId) => deletePhotosOf({ jobs, objects }, userId),
    purgeRows: (tx, userId) => forgetPhotosOf(tx, { jobs, objects }, userId),
    repaired: reviveFor,
    async close() {
      await Promise.all([pictures.close(), vision.close()])
    },
  }
}

/** Its use is set aside by now, and the photo is being described: both can be seen. A hint; the next change tells it, too. */
function tellOf(db: Database, userId: string): Promise<void> {
  return db.transaction(async (tx) => {
    if (await exists(tx, userId)) await diaryChanged(tx, userId)
  })
}

async function exists(query: Queryable, userId: string): Promise<boolean> {
  return (await query.get('SELECT 1 FROM users WHERE id = ?', userId)) !== undefined
}
