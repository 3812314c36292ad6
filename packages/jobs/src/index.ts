// What opening a store takes, so that one package is enough to install and to import from.
export { type Clock, type Database, migrate, type Queryable, systemClock, type Transaction } from '@garner/db'
export type {
  Allowance,
  AllowanceUse,
  StepRecord,
  StepStanding,
  StepState,
} from './allowance.ts'
export { backoffMs, type Decision, decide, type RetryPolicy } from './decide.ts'
export * from './errors.ts'
export { Events } from './events.ts'
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
export { Jobs, type NewJob, type NewSchedule } from './jobs.ts'
export {
  type AttemptContext,
  type BatchHandler,
  defineKind,
  type JobKind,
  type KindRules,
  type Outcome,
  type SingleHandler,
} from './kind.ts'
export {
  type DeadJob,
  type Inspectable,
  type Inspection,
  inspect,
  type KindInspection,
} from './observe/inspect.ts'
export {
  ATTEMPT_METRICS,
  type Distribution,
  DURATION_BUCKETS,
  type Labels,
  type MetricInfo,
  type Reading,
  type Sample,
  STORE_METRICS,
} from './observe/metric.ts'
export { type JobCensus, JobMetrics, type MetricListener } from './observe/metrics.ts'
export {
  type InstrumentOptions,
  type ObservableCallback,
  type OpenTelemetryMeter,
  openTelemetryMetrics,
} from './observe/opentelemetry.ts'
export { type PrometheusRegistry, prometheusMetrics } from './observe/prometheus.ts'
export { ClaimLost, type PaidStep } from './once.ts'
export { payloadHash } from './payload-hash.ts'
export { type Bounds, RANK_UNIT } from './rank.ts'
export type { AttemptEnd } from './run-attempt.ts'
export { nextInstant, type Schedule, type ScheduleRecord } from './schedule.ts'
export type { PayloadSchema } from './schema.ts'
export type {
  ClaimKind,
  ClaimRequest,
  Ending,
  JobCounts,
  JobFilter,
  JobStore,
  JobTotals,
  Listening,
  PausedKind,
  Pruned,
  PublishAnswer,
  Retention,
  StepChange,
  StepOpening,
  Submission,
  Submitted,
  WriteAnswer,
} from './store.ts'
export { type WatchOptions, watch } from './watch.ts'
export { type AttemptEvent, type Step, Worker, type WorkerOptions } from './worker.ts'
