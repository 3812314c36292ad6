import type { Submission } from '@garner/jobs'
import type { NamedChecker } from './checker.ts'

/**
 * J5: the same operation id with the same payload is the first job, from whoever and however often; with another
 * payload it is refused. Jobs that were forgotten are forgotten with their operations; pruned ones are not.
 */
export const operations: NamedChecker = {
  name: 'J5 idempotent submission',
  make({ broken }) {
    const known = new Map<string, { jobId: string; payload: string }>()
    const removed = new Set<string>()
    let removal: 'forgotten' | 'pruned' | null = null
    const keyOf = ({ tenant, operationId }: Submission) => `${tenant} ${operationId}`
    return {
      see(one) {
        switch (one.what) {
          case 'submitted': {
            if (one.submission.operationId === undefined) return
            const key = keyOf(one.submission)
            const payload = JSON.stringify(one.submission.payload)
            const before = known.get(key)
            if (!one.isRepeat) {
              if (before) broken(`operation ${key} made ${before.jobId} and then ${one.job.id}`)
              known.set(key, { jobId: one.job.id, payload })
            } else if (before?.jobId !== one.job.id) {
              broken(`operation ${key} made ${before?.jobId}, a repeat was given ${one.job.id}`)
            } else if (before.payload !== payload) {
              broken(`operation ${key} was repeated with another payload, and taken`)
            }
            return
          }
          case 'conflict': {
            const [first] = one.submissions
            const payloads = new Set(one.submissions.map((named) => JSON.stringify(named.payload)))
            const before = known.get(keyOf(first!))
            if (before && payloads.size === 1 && payloads.has(before.payload)) {
              broken(`operation ${keyOf(first!)} was repeated as it was, and refused`)
            }
            return
          }
          case 'forgotten':
          case 'pruned':
            removal = one.what
            return
          case 'seen':
            if (one.job || removed.has(one.id)) return
            removed.add(one.id)
            if (removal !== 'forgotten') return
            for (const [key, { jobId }] of known) if (jobId === one.id) known.delete(key)
        }
      },
    }
  },
}
