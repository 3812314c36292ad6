import { shiftBatch } from '@garner/server/taken'
import {
  hasWhen,
  isEditable,
  isReady,
  type Row,
  type UploadState,
  type When,
  type WhenSource,
} from './row.ts'

/** The batch as a list of rows: pure changes. Rows keep their places from the moment they appear. */
export function change(rows: readonly Row[], id: string, edit: (row: Row) => Row): Row[] {
  return rows.map((row) => (row.id === id ? edit(row) : row))
}

/**
 * Another time is another request, so it has a new key: the server would refuse the old one with another payload. A
 * dropped upload may have arrived though; the server then finds the same photo and says so.
 */
export function withWhen(row: Row, when: When, { source, key }: { source: WhenSource; key: string }): Row {
  if (!isEditable(row)) return row
  const isSame = row.when.date === when.date && row.when.time === when.time
  return { ...row, when, whenSource: source, key: isSame ? row.key : key }
}

export function withUpload(row: Row, upload: UploadState): Row {
  return { ...row, upload }
}

/** Which one goes up next: the first from the top that is ready; what waits for room keeps the others behind it. */
export function nextUp(rows: readonly Row[]): Row | null {
  return rows.find(isReady) ?? null
}

/** The batch's oldest moment, which the server needs to look for duplicates anywhere within the batch. */
export function sinceOf(rows: readonly Row[]): When | null {
  let oldest: When | null = null
  for (const row of rows) {
    if (!hasWhen(row)) continue
    const { when } = row
    if (oldest === null || `${when.date}${when.time}` < `${oldest.date}${oldest.time}`) oldest = when
  }
  return oldest
}

export interface Shifted {
  rows: Row[]
  moved: number
  /** Photos whose moved time would be impossible: they stayed. */
  refused: number
}

/** Rows that a wrong camera clock concerns: still editable, and showing what the photo says. */
export function shiftable(rows: readonly Row[]): Row[] {
  return rows.filter(
    (row) =>
      isEditable(row) &&
      row.taken?.time != null &&
      (row.whenSource === 'photo' || row.whenSource === 'guess'),
  )
}

export function shifted(
  rows: readonly Row[],
  by: { byMinutes: number; nowMs: number; newKey(): string },
): Shifted {
  const affected = shiftable(rows)
  const results = shiftBatch(
    affected.map((row) => row.taken!),
    by,
  )
  let moved = 0
  let refused = 0
  const after = new Map<string, Row>()
  for (const [i, row] of affected.entries()) {
    const result = results[i]
    if (!result) continue
    if (result.refused !== null) {
      refused += 1
      continue
    }
    moved += 1
    const { taken } = result
    const when = { date: taken.date, time: taken.time ?? '' }
    // The camera's clock was set right: what it said of another year is settled with it.
    const found = { ...row.found, doubts: [] }
    after.set(row.id, { ...row, taken, when, found, key: by.newKey() })
  }
  return { rows: rows.map((row) => after.get(row.id) ?? row), moved, refused }
}
