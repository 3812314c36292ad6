import type { Queryable, Transaction } from '@garner/db'

/** Where a list stands. */
export interface ListStanding {
  version: number
  marksVersion: number
  links: number
  /** The members who let their marks be shown: whoever goes or changes their mind changes what everyone sees. */
  shown: string
}

/** For SELECT from `lists`. */
export const SHOWN = `coalesce((SELECT group_concat(m.user_id ORDER BY m.user_id) FROM memberships m
  WHERE m.group_id = lists.group_id AND m.show_reads = 1), '') AS shown`

const STANDING = `SELECT version, marks_version AS marksVersion, links, ${SHOWN} FROM lists WHERE group_id = ?`
const CHANGED = `INSERT INTO lists VALUES (?, 1, 0, ?) ON CONFLICT (group_id)
  DO UPDATE SET version = version + 1, links = links + ? RETURNING version`
const MARKED = `INSERT INTO lists VALUES (?, 0, 1, 0) ON CONFLICT (group_id)
  DO UPDATE SET marks_version = marks_version + 1`

/** A list that nobody has saved to stands at version 0. */
export async function standingOf(query: Queryable, group: string): Promise<ListStanding> {
  return (
    (await query.get<ListStanding>(STANDING, group)) ?? { version: 0, marksVersion: 0, links: 0, shown: '' }
  )
}

/**
 * Counts a change of the list's links and answers the list's new version. In the same transaction as the change,
 * so nobody sees one without the other. `links`: how many links came (or, negative, went).
 */
export async function changed(tx: Transaction, group: string, links = 0): Promise<number> {
  return (await tx.get<{ version: number }>(CHANGED, group, Math.max(0, links), links))!.version
}

/** Counts a change of somebody's read marks. */
export async function marked(tx: Transaction, group: string): Promise<void> {
  await tx.run(MARKED, group)
}
