export type { AttemptEnd } from './attempt.ts'
export { backoffMs, type Decision, decide, type RetryPolicy } from './decide.ts'
export * from './errors.ts'
export {
  type AttemptOutcome,
  type AttemptRecord,
  type Claim,
  type Job,
  type JobState,
  type Json,
  PENDING_STATES,
  TRANSITIONS,
} from './job.ts'
export type { AttemptContext, JobKind, Outcome } from './kind.ts'
export { payloadHash } from './payload-hash.ts'
export type { Bounds } from './rank.ts'
export type {
  ClaimRequest,
  Ending,
  JobCounts,
  JobFilter,
  JobStore,
  JobTotals,
  PublishAnswer,
  Submission,
  WriteAnswer,
} from './store.ts'
export { type Step, Worker, type WorkerOptions } from './worker.ts'
