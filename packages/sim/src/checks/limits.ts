import { claimName, type NamedChecker } from './checker.ts'

interface Running {
  kind: string
  key: string | null
  untilMs: number
}

/**
 * The limits of a kind, over all workers: jobs of one key at a time, jobs of the kind at a time, the distance between
 * two starts of one key, and nothing at all while it is paused; and no more attempts of a worker than it has slots. A job whose lease has run out does not count.
 */
export const limits: NamedChecker = {
  name: 'limits of a kind',
  make({ plan, broken }) {
    const kinds = new Map(plan.kinds.map((one) => [one.kind, one]))
    const running = new Map<string, Running>()
    const starts = new Map<string, number>()
    const slotsOf = new Map(plan.workers.map(({ name, slots }) => [name, slots]))
    /** By life: attempts whose handler was begun and whose end was not yet heard of. */
    const active = new Map<string, Set<string>>()
    const paused = new Map<string, number>()
    return {
      see(one, { storeMs }) {
        switch (one.what) {
          case 'claimed': {
            for (const [id, { untilMs }] of running) if (untilMs <= storeMs) running.delete(id)
            for (const { job } of one.claims) {
              running.set(job.id, { kind: job.kind, key: job.key, untilMs: storeMs + one.request.leaseMs })
            }
            for (const { job } of one.claims) {
              const { kind, key, id } = job
              const of = [...running.values()].filter((other) => other.kind === kind)
              const { perKey = 1e9, concurrency = 1e9, spacingMs = 0 } = kinds.get(kind)!
              if (of.length > concurrency) broken(`${id} is the ${of.length}th of ${concurrency} of ${kind}`)
              if (storeMs < (paused.get(kind) ?? 0)) broken(`${id} was claimed, and ${kind} is paused`)
              if (key === null) continue
              const count = of.filter((other) => other.key === key).length
              if (count > perKey) broken(`${id} is the ${count}th of ${perKey} of ${key}`)
              const at = `${kind} ${key}`
              const sinceMs = storeMs - (starts.get(at) ?? Number.NEGATIVE_INFINITY)
              // A clock that was set back says nothing of the distance.
              if (sinceMs >= 0 && sinceMs < spacingMs) {
                broken(`${id} starts ${sinceMs} ms after another of ${key}, not ${spacingMs}`)
              }
              starts.set(at, storeMs)
            }
            return
          }
          case 'heartbeat':
            for (const { claim, answer } of one.beats) {
              const known = running.get(claim.job.id)
              if (known && answer === 'extended') known.untilMs = storeMs + one.leaseMs
            }
            return
          case 'seen':
            if (one.job?.state !== 'running') running.delete(one.id)
            return
          case 'paused':
            paused.set(one.kind, one.untilMs ?? Number.POSITIVE_INFINITY)
            return
          case 'handling': {
            const attempts = (active.get(one.by) ?? new Set()).add(claimName(one.job.id, one.epoch))
            active.set(one.by, attempts)
            const slots = slotsOf.get(one.by.split('.')[0]!)!
            if (attempts.size > slots) broken(`${one.by} has ${attempts.size} attempts in ${slots} slots`)
            return
          }
          case 'ended':
            active.get(one.by)?.delete(claimName(one.claim.job.id, one.claim.epoch))
            return
          case 'resumed':
            paused.delete(one.kind)
        }
      },
    }
  },
}
