import { claimName, type NamedChecker } from './checker.ts'

/** Every claim is one record of the job's history, oldest first, with the end that was said for it. */
export const history: NamedChecker = {
  name: 'attempt history',
  make({ broken }) {
    const claimed = new Map<string, number[]>()
    const ends = new Map<string, string>()
    return {
      see(one) {
        if (one.what === 'claimed') {
          for (const { job, epoch } of one.claims)
            claimed.set(job.id, [...(claimed.get(job.id) ?? []), epoch])
        }
        if (one.what === 'published' && one.answer === 'published') {
          const { ending, claim } = one
          ends.set(claimName(claim.job.id, claim.epoch), 'outcome' in ending ? ending.outcome : ending.state)
        }
      },
      end({ jobs }) {
        for (const [id, { attempts }] of jobs) {
          const epochs = attempts.map((one) => one.epoch)
          const expected = claimed.get(id) ?? []
          if (epochs.join() !== expected.join()) {
            broken(
              `${id} was claimed with ${expected.join(', ') || 'nothing'}, its history shows ${epochs.join(', ')}`,
            )
          }
          for (const { epoch, outcome } of attempts) {
            const said = ends.get(claimName(id, epoch))
            if (said !== undefined && outcome !== said)
              broken(`${claimName(id, epoch)} ended as ${said}, shown is ${outcome}`)
            if (outcome === null) broken(`${claimName(id, epoch)} has ended, and its history does not say so`)
          }
        }
      },
    }
  },
}
