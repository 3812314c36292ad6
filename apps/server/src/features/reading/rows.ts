import type { Transaction, Value } from '@garner/db'
import type { BookmarkRow } from './bookmark.ts'

/** How rows of `bookmarks` are written. */
export const COLUMNS = [
  ...['id', 'group_id', 'owner_id', 'url', 'page_key', 'note', 'page_title', 'browser_title', 'hand_title'],
  ...['hand_title_by', 'title_status', 'title_error', 'title_checked_at_ms', 'title_tries'],
  ...['title_next_try_at_ms', 'shown', 'final_key', 'title_mode', 'saved_at_ms', 'edited_at_ms', 'edited_by'],
  ...['version', 'source_version', 'list_version', 'job_id', 'search'],
] as const satisfies (keyof BookmarkRow)[]

/** 10 rows a statement: most of what is to be gained by it. */
const ROWS_MAX = 10
const ROW = `(${COLUMNS.map(() => '?').join(', ')})`
const INSERTS = Array.from(
  { length: ROWS_MAX },
  (_, n) =>
    `INSERT INTO bookmarks (${COLUMNS.join(', ')}) VALUES ${Array(n + 1)
      .fill(ROW)
      .join(', ')}`,
)

export async function insertRows(tx: Transaction, rows: BookmarkRow[]): Promise<void> {
  for (let from = 0; from < rows.length; from += ROWS_MAX) {
    const some = rows.slice(from, from + ROWS_MAX)
    const cells: Value[] = []
    for (const row of some) for (const name of COLUMNS) cells.push(row[name])
    await tx.run(INSERTS[some.length - 1]!, ...cells)
  }
}
