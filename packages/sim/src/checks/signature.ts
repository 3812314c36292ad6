import type { Happening } from './happening.ts'

/** What kind of thing has happened, for counting: `published superseded`, `opened unknown`, `heartbeat lost`. */
export function signaturesOf(one: Happening): string[] {
  switch (one.what) {
    case 'submitted':
      return [one.isRepeat ? 'submitted again' : 'submitted']
    case 'published': {
      const end = 'outcome' in one.ending ? one.ending.outcome : one.ending.state
      return [
        `published ${one.answer ?? 'failed'}`,
        ...(one.answer === 'published' ? [`ended as ${end}`] : []),
      ]
    }
    case 'heartbeat':
      return [...new Set(one.beats.map(({ answer }) => `heartbeat ${answer}`))]
    case 'progress':
      return [`progress ${one.answer}`]
    case 'opened':
      return [`opened ${one.standing.state}`]
    case 'recorded':
      return [`recorded ${one.answer === 'lost' ? 'lost' : one.change.state}`]
    case 'claimed':
      return one.claims.map(({ job }) => (job.attempt > 1 ? 'claimed again' : 'claimed'))
    case 'superseded':
    case 'forgotten':
      return one.count > 0 ? [one.what] : []
    case 'cancelled':
    case 'discarded':
      return one.did ? [one.what] : []
    case 'pruned':
      return one.jobs > 0 ? [one.what] : []
    case 'repaired':
      return one.job?.state === 'ready' ? [one.what] : []
    case 'allowed':
      return one.isAllowed ? [] : [`not allowed ${one.isInside ? 'when published' : 'when claimed'}`]
    case 'left':
      return one.why === 'told' ? ['told to stop'] : []
    case 'ended':
      return [`attempt ${one.end}`]
    case 'part':
      return one.isNew ? [] : ['part found']
    case 'refused':
    case 'rows':
    case 'seen':
    case 'scheduled':
      return []
    default:
      return [one.what]
  }
}
