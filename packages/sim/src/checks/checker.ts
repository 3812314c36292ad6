import type { Allowance, AttemptRecord, Job, JobTotals, StepRecord } from '@garner/jobs'
import type { Plan } from '../plan/plan.ts'
import type { AppTables } from '../store/app-tables.ts'
import type { Happening, Instant } from './happening.ts'

/** Everything that is stored when a run is over. */
export interface Final {
  jobs: Map<string, { job: Job; attempts: AttemptRecord[]; steps: StepRecord[] }>
  /** Of jobs that are gone as well. */
  stepsOf: (jobId: string) => Promise<StepRecord[]>
  allowance: (of: { tenant: string; allowance: string; per: 'hour' | 'day' | 'month' }) => Promise<Allowance>
  totals: JobTotals[]
  /** The store's clock. */
  storeMs: number
}

/** What a checker may look at beside what it is told. */
export interface View {
  plan: Pick<Plan, 'bounds' | 'kinds' | 'workers' | 'faults' | 'commands' | 'tenants'>
  app: AppTables
  /** How long a life has lived without standing still. ms */
  activeMs: (by: string) => number
  /** Says that the promise is broken, in words that name the job. */
  broken: (story: string) => void
}

/** One promise, watched from outside: it knows what has happened and nothing of how it is done. */
export interface Checker {
  see(happening: Happening, at: Instant): void
  /** Once all has healed and every job has ended. */
  end?(final: Final): void | Promise<void>
}

export interface NamedChecker {
  /** `J3 lease and epoch`. */
  name: string
  make: (view: View) => Checker
}

/** A claim's name: `job-1@3`. */
export function claimName(jobId: string, epoch: number): string {
  return `${jobId}@${epoch}`
}
