import type { Queryable } from '@garner/db'

/** Every list's totals as they are kept, and as they are when links and marks are counted now; without those of nothing. */
export async function totals(query: Queryable): Promise<{ kept: unknown[]; counted: unknown[] }> {
  const kept = await query.all(
    `SELECT group_id, user_id, links, marks FROM list_totals WHERE links <> 0 OR marks <> 0
     ORDER BY group_id, user_id`,
  )
  const counted = await query.all(
    `SELECT group_id, user_id, sum(links) AS links, sum(marks) AS marks FROM (
       SELECT group_id, owner_id AS user_id, 1 AS links, 0 AS marks FROM bookmarks
       UNION ALL SELECT group_id, user_id, 0, 1 FROM read_marks) AS rows
     GROUP BY group_id, user_id ORDER BY group_id, user_id`,
  )
  return {
    kept,
    counted: counted.map((row) => ({ ...row, links: Number(row.links), marks: Number(row.marks) })),
  }
}
