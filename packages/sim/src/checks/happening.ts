import type {
  AttemptEnd,
  AttemptRecord,
  Claim,
  ClaimRequest,
  Ending,
  Job,
  Json,
  PublishAnswer,
  StepChange,
  StepOpening,
  StepStanding,
  Submission,
} from '@garner/jobs'
import type { AppRow } from '../store/app-tables.ts'

/** What can be seen of a world from outside, in the order in which it happened. Checkers know nothing else. */
export type Happening = Stored | Told | Billed | Unbilled | Acknowledged

/** Done by the store, and committed. `by`: the life that asked, whether or not it has heard of it. */
export type Stored =
  | {
      what: 'submitted'
      by: string
      job: Job
      isRepeat: boolean
      submission: Submission
      /** In the caller's transaction, beside a row of the caller's. */
      hasRow: boolean
    }
  /** Made by a schedule. */
  | { what: 'fired'; job: Job }
  /** `submissions`: those of the call that named the operation. */
  | { what: 'conflict'; by: string; submissions: Submission[] }
  | { what: 'full'; by: string; submissions: Submission[]; limit: number; scope: 'tenant' | 'total' }
  | { what: 'rows'; by: string; rows: AppRow[] }
  | { what: 'claimed'; by: string; claims: Claim[]; request: ClaimRequest }
  | {
      what: 'heartbeat'
      by: string
      beats: { claim: Pick<Claim, 'job' | 'epoch'>; answer: 'extended' | 'lost' }[]
      leaseMs: number
    }
  /** `answer: null`: the call failed, and what was written in it should be gone. */
  | { what: 'published'; by: string; claim: Claim; ending: Ending; answer: PublishAnswer | null }
  | { what: 'progress'; by: string; claim: Pick<Claim, 'job' | 'epoch'>; answer: 'stored' | 'lost' }
  | {
      what: 'opened'
      by: string
      claim: Pick<Claim, 'job' | 'epoch'>
      opening: StepOpening
      standing: StepStanding
    }
  | {
      what: 'recorded'
      by: string
      claim: Pick<Claim, 'job' | 'epoch'>
      step: string
      change: StepChange
      answer: 'stored' | 'lost'
    }
  | { what: 'superseded'; subject: string; version: number; count: number }
  | { what: 'forgotten'; subject?: string; tenant?: string; count: number }
  | { what: 'repaired'; id: string; isBounded: boolean; job: Job | undefined }
  | { what: 'discarded' | 'cancelled'; id: string; did: boolean }
  | { what: 'paused'; kind: string; untilMs: number | null }
  | { what: 'resumed'; kind: string }
  | { what: 'weighed'; tenant: string; weight: number }
  | { what: 'scheduled'; name: string }
  | { what: 'pruned'; jobs: number }
  /** A job as it is after something was done to it; undefined when it is gone. */
  | { what: 'seen'; id: string; job: Job | undefined; attempts: AttemptRecord[] }

/** What goes on in a worker. */
export type Told =
  | { what: 'handling'; by: string; job: Job; epoch: number; leaseMs: number; isCut: boolean }
  /** The handler has returned or thrown, or has been told to stop. */
  | { what: 'left'; by: string; job: Job; epoch: number; why: 'ended' | 'told' }
  /** The life has been told that these heartbeats were refused. */
  | { what: 'refused'; by: string; claims: Pick<Claim, 'job' | 'epoch'>[] }
  | { what: 'part'; by: string; job: Job; step: string; value: Json; isNew: boolean }
  | { what: 'allowed'; by: string; job: Job; isAllowed: boolean; isInside: boolean }
  | { what: 'ended'; by: string; claim: Claim; end: AttemptEnd }
  | { what: 'fault'; by: string; error: unknown }
  | { what: 'died'; by: string }

/** The provider has done the work and written a bill for it. */
export interface Billed {
  what: 'billed'
  by: string
  jobId: string
  tenant: string
  epoch: number
  step: string
}

/** The provider has said that it will not do it, and its caller has heard that. */
export interface Unbilled extends Omit<Billed, 'what'> {
  what: 'unbilled'
}

/** Somebody outside has been told 201 or 202. */
export interface Acknowledged {
  what: 'acknowledged'
  by: string
  id: string
}

/** When: true time of the world, and the store's own. ms */
export interface Instant {
  atMs: number
  storeMs: number
}
