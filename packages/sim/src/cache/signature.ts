import type { Happening } from './checks/happening.ts'

/** What kind of thing has happened, in words that can be counted over many runs. */
export function signatureOf(happening: Happening): string[] {
  switch (happening.what) {
    case 'ended': {
      const { read, answer, error, isAway } = happening
      const whose = read.minVersion > 0 ? ['own save'] : []
      if (answer) return [answer.result, ...whose.map((one) => `${one} answered`)]
      if (isAway) return ['went away']
      const { code = 'failed', reason } = error as { code?: string; reason?: string }
      return [[code, reason].filter(Boolean).join(' ')]
    }
    case 'met':
      return happening.load.isSentLate ? ['met', 'met late'] : ['met']
    case 'looked':
      return [`looked ${happening.look.fill}`]
    case 'lent':
      return [
        ...(happening.lease.isOwed ? ['lent less'] : []),
        ...(happening.lease.rate === 0 ? ['lent nothing'] : []),
      ]
    case 'told':
      return [happening.isForgotten ? 'told to forget' : 'told']
    default:
      return [happening.what]
  }
}
