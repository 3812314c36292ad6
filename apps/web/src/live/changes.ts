import type { StreamEvent } from './sse.ts'

/** What the server says has changed. It only says *look again*; the data comes from the normal reads. */
export type Change =
  | { kind: 'bookmark'; group: string; id: string }
  | { kind: 'list'; group: string; version: number }
  | { kind: 'group'; group: string }
  | { kind: 'account' }
  /** Of one's meal diary: photos on their way, meals, the day's estimates. */
  | { kind: 'diary'; part: 'photo' | 'meal' | 'allowance' }

/** Null for what this client does not know, or cannot read: a newer server may say more. */
export function changeIn(event: StreamEvent): Change | null {
  let data: Record<string, unknown>
  try {
    data = JSON.parse(event.data) as Record<string, unknown>
  } catch {
    return null
  }
  if (typeof data !== 'object' || data === null) return null
  const group = typeof data.group === 'string' ? data.group : null
  switch (event.event) {
    case 'account':
      return { kind: 'account' }
    case 'photo':
    case 'meal':
    case 'allowance':
      return { kind: 'diary', part: event.event }
    case 'group':
      return group === null ? null : { kind: 'group', group }
    case 'list':
      return group === null ? null : { kind: 'list', group, version: Number(data.version) }
    case 'bookmark':
      return group === null || typeof data.id !== 'string' ? null : { kind: 'bookmark', group, id: data.id }
    default:
      return null
  }
}
