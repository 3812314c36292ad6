import type { Answer } from './instance.ts'

/** How a read can end: as its answer says, or `lost` with an instance that broke off or said nothing for too long. */
export type End = 'hit' | 'coalesced' | 'origin' | 'stale' | 'rejected' | 'lost'
export type Ends = Record<End, number>

export function noEnds(): Ends {
  return { hit: 0, coalesced: 0, origin: 0, stale: 0, rejected: 0, lost: 0 }
}

/** Of a list read that was answered. Errors: when it is neither a list nor a refusal that says when to come back. */
export function endOf({ status, headers, body }: Pick<Answer, 'status' | 'headers' | 'body'>): End {
  if (status === 503 && headers['retry-after'] !== undefined) return 'rejected'
  if (status !== 200) throw new Error(`A list was answered ${status}: ${body}`)
  const said = String(headers['cache-status'])
  if (said.includes('detail=stale')) return 'stale'
  if (said.includes('; hit')) return 'hit'
  return said.includes('collapsed') ? 'coalesced' : 'origin'
}
