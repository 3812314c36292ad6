import type { Watched } from '../../live/changes.ts'
import { diaryVersion } from './diary.ts'

/**
 * One's own diary, by its version: photos on their way, meals and the allowance change together more often than not,
 * so all three are told, and a page looks at those it shows.
 */
export const diaryChanges: Watched<number> = {
  see: (query, { userId }) => diaryVersion(query, userId),
  async differences(_query, before, now) {
    if (before === now) return []
    return ['photo', 'meal', 'allowance'].map((event) => ({ event, data: { version: now } }))
  },
}
