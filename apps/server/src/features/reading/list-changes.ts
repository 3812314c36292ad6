import { oneOf, type Queryable } from '@garner/db'
import type { Change, Watched } from '../../live/changes.ts'

interface List {
  group_id: string
  version: number
  marksVersion: number
}

/** More changed links than this at once are told as "the list has changed". */
const SINGLE_MAX = 20

/** The lists of one's groups, by their version numbers. */
export const listChanges: Watched<Map<string, List>> = {
  async see(query, { groups }) {
    const { marks, values } = oneOf(groups)
    const rows = await query.all<List>(
      `SELECT group_id, version, marks_version AS "marksVersion" FROM lists WHERE group_id IN ${marks}`,
      ...values,
    )
    return new Map(rows.map((row) => [row.group_id, row]))
  },

  async differences(query, before, now) {
    const changes: Change[] = []
    for (const [group, list] of now) changes.push(...(await inList(query, group, before.get(group), list)))
    return changes
  },
}

async function inList(
  query: Queryable,
  group: string,
  before: List | undefined,
  now: List,
): Promise<Change[]> {
  if (before?.version === now.version && before.marksVersion === now.marksVersion) return []
  const rows = await query.all<{ id: string; version: number }>(
    'SELECT id, version FROM bookmarks WHERE group_id = ? AND list_version > ? ORDER BY list_version LIMIT ?',
    ...[group, before?.version ?? 0, SINGLE_MAX + 1],
  )
  const list: Change = { event: 'list', data: { group, version: now.version } }
  if (rows.length > SINGLE_MAX) return [list]
  return [
    ...rows.map(({ id, version }): Change => ({ event: 'bookmark', data: { group, id, version } })),
    list,
  ]
}
