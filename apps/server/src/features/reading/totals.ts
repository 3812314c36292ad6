import type { Queryable, Transaction } from '@garner/db'

/**
 * What each member sees counted beside a list, kept as rows (0020): links that they have saved, and links that they have
 * read. Each function belongs into the transaction that changes what is counted, behind the change of the list's row
 * (lists.ts): whoever has that changes the list's totals alone, and what they count holds until they end.
 * Cut anywhere: the transaction is there whole or not at all, and so is the count.
 */
export interface Totals {
  links: number
  marks: number
}

const NONE: Totals = { links: 0, marks: 0 }

const ADD = `INSERT INTO list_totals (group_id, user_id, links, marks) VALUES (?, ?, ?, ?)
  ON CONFLICT (group_id, user_id) DO UPDATE
  SET links = list_totals.links + excluded.links, marks = list_totals.marks + excluded.marks`

/** Counts links and marks that this person has come to have; fewer by negative numbers. */
export async function addTotals(
  tx: Transaction,
  { group, userId }: { group: string; userId: string },
  { links = 0, marks = 0 }: Partial<Totals>,
): Promise<void> {
  await tx.run(ADD, group, userId, links, marks)
}

/** Counts one link less for its owner, and for everyone who has read it. Before it goes, with its marks. */
export async function subtractLink(
  tx: Transaction,
  { id, group, owner }: { id: string; group: string; owner: string },
): Promise<void> {
  await addTotals(tx, { group, userId: owner }, { links: -1 })
  await tx.run(
    `UPDATE list_totals SET marks = marks - 1
     WHERE group_id = ? AND user_id IN (SELECT user_id FROM read_marks WHERE bookmark_id = ?)`,
    ...[group, id],
  )
}

/** Of all members who have any. */
export async function totalsOf(query: Queryable, group: string): Promise<Map<string, Totals>> {
  const rows = await query.all<Totals & { id: string }>(
    'SELECT user_id AS id, links, marks FROM list_totals WHERE group_id = ?',
    group,
  )
  return new Map(rows.map(({ id, links, marks }) => [id, { links, marks }]))
}

export async function totalsOfOne(query: Queryable, group: string, userId: string): Promise<Totals> {
  const found = await query.get<Totals>(
    'SELECT links, marks FROM list_totals WHERE group_id = ? AND user_id = ?',
    ...[group, userId],
  )
  return found ?? NONE
}
