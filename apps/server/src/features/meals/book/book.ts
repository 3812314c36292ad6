import type { Database, Queryable, Transaction } from '@garner/db'
import type { JobStore } from '@garner/jobs'
import type { App } from '../../../http.ts'
import type { Objects } from '../../../outbound/objects.ts'
import type { Seal } from '../../../seal.ts'
import { goalRoutes } from './goal-routes.ts'
import { mealRoutes } from './meal-routes.ts'
import { photoRoutes } from './photo-routes.ts'
import { shareRoutes } from './share-routes.ts'
import type { WriteDeps } from './writes.ts'

export interface BookDeps extends WriteDeps {
  db: Pick<Database, 'read' | 'transaction'>
  jobs: Pick<JobStore<Transaction>, 'allowance' | 'forget'>
  randomBytes: (n: number) => Uint8Array
  seal: Seal
  people: {
    isApproved(query: Queryable, userId: string): Promise<boolean>
    namesOf(query: Queryable, userIds: string[]): Promise<Map<string, string>>
  }
  objects: Pick<Objects, 'get' | 'remove'>
  vision: {
    isConfigured: boolean
    parked(): { reason: string; untilMs: number | null } | null
  }
  /** Estimates of one person in a UTC day. */
  aiDailyLimit: number
  /** Told after a commit that something of a diary can be seen to have changed. */
  onChange: () => void
}

/** The book of meals: everything about them but how a photo becomes one. */
export function registerBook(app: App, deps: BookDeps): void {
  mealRoutes(app, deps)
  photoRoutes(app, deps)
  goalRoutes(app, deps)
  shareRoutes(app, deps)
}
