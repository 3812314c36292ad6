import type { Json, StepOpening } from '@garner/jobs'
import { REFUSED } from '../actors/provider.ts'
import { claimName, type NamedChecker } from './checker.ts'

interface Step {
  jobId: string
  name: string
  /** Epochs of the attempts that a use was counted for, and that was not given back. */
  uses: number[]
  /** Times that a use was counted, given back or not. */
  opened: number
  /** Bills, by the epoch of the attempt that made the call. */
  billed: number[]
  /** The provider's id is known: whoever comes asks by it. */
  isSubmitted: boolean
  settled: { result: Json } | null
}

/**
 * J7: the provider's bills against the records. Before each bill there is a use that was counted for that very
 * attempt; no use pays for two; with the policy `degrade` a call that may have been billed is the last one, and after a
 * result or a provider's id is stored there is none at all. What the provider says it does not bill is given back.
 * Free parts: once stored, never computed anew.
 */
export const bills: NamedChecker = {
  name: 'J7 billed at most once',
  make({ plan, broken }) {
    const policies = new Map(plan.kinds.map(({ kind, paid }) => [kind, paid?.ifUnknown]))
    const steps = new Map<string, Step>()
    /** Calls that the provider has refused, and whose use was not given back yet. */
    const unbilled = new Set<string>()

    const stepOf = (jobId: string, name: string): Step => {
      const key = `${jobId} ${name}`
      const found = steps.get(key) ?? {
        ...{ jobId, name, uses: [], opened: 0, billed: [], isSubmitted: false, settled: null },
      }
      steps.set(key, found)
      return found
    }
    const opened = (
      step: Step,
      { kind, epoch }: { kind: string; epoch: number },
      { use, evenIfUnknown }: StepOpening,
    ) => {
      const name = callName(step.name, step.jobId, epoch)
      if (step.settled) broken(`${name} was opened after its result was stored`)
      if (!use || step.uses.at(-1) === epoch) return
      if (step.isSubmitted) broken(`${name} was opened anew, and the provider's id was known`)
      const mayPayAgain = policies.get(kind) === 'retry'
      if (evenIfUnknown && !mayPayAgain) broken(`${name} was opened at any price, and that is not its policy`)
      if (step.uses.length > 0 && !mayPayAgain) {
        broken(`${name} was opened anew, and an earlier call may have been billed`)
      }
      step.uses.push(epoch)
      step.opened++
    }

    return {
      see(one) {
        switch (one.what) {
          case 'opened': {
            const { claim, opening, standing } = one
            const { id, kind } = claim.job
            const step = stepOf(id, opening.name)
            const name = callName(step.name, id, claim.epoch)
            if (standing.state === 'open') opened(step, { kind, epoch: claim.epoch }, opening)
            if (step.settled && standing.state !== 'settled' && standing.state !== 'lost') {
              broken(`${name} was stored, and is now ${standing.state}`)
            }
            if (standing.state === 'settled' && !isSame(step.settled?.result, standing.result)) {
              broken(`${name} was stored with another result`)
            }
            return
          }
          case 'recorded': {
            const { id } = one.claim.job
            if (one.change.state === 'refunded') unbilled.delete(callName(one.step, id, one.claim.epoch))
            if (one.answer !== 'stored') return
            const step = stepOf(id, one.step)
            if (one.change.state === 'settled') step.settled ??= { result: one.change.result }
            else if (!step.settled) step.isSubmitted = one.change.state === 'submitted'
            if (one.change.state === 'refunded') step.uses.pop()
            return
          }
          case 'billed': {
            const step = stepOf(one.jobId, one.step)
            const name = callName(one.step, one.jobId, one.epoch)
            if (!step.uses.includes(one.epoch)) broken(`${name} was billed, and no record shows it`)
            if (step.billed.includes(one.epoch)) broken(`${name} was billed twice for one use`)
            step.billed.push(one.epoch)
            return
          }
          case 'unbilled':
            unbilled.add(callName(one.step, one.jobId, one.epoch))
            return
          case 'published': {
            const { ending, claim } = one
            const isRefused = 'reason' in ending && ending.reason === REFUSED
            const name = callName('estimate', claim.job.id, claim.epoch)
            if (isRefused && unbilled.has(name))
              broken(`${name} was not billed, and its use is not given back`)
            return
          }
          case 'part': {
            const name = `${one.step} of ${one.job.id}`
            const settled = steps.get(`${one.job.id} ${one.step}`)?.settled
            if (!settled) broken(`${name} was given to its handler and is not stored`)
            else if (!isSame(settled.result, one.value)) broken(`${name} was computed anew`)
          }
        }
      },
      async end({ stepsOf }) {
        for (const { jobId, name, opened: expected } of steps.values()) {
          const record = (await stepsOf(jobId)).find((one) => one.name === name)
          if (!record || record.uses === expected) continue
          broken(`${name} of ${jobId} was opened ${expected} times, ${record.uses} are shown`)
        }
      },
    }
  },
}

function callName(step: string, jobId: string, epoch: number): string {
  return `${step} of ${claimName(jobId, epoch)}`
}

function isSame(a: Json | undefined, b: Json): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
