import { useQueries } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { useGarner } from '../../garner.ts'
import { useStore } from '../../store.ts'
import type { Pending } from '../contract.ts'
import { diaryDay } from '../queries.ts'
import { isUnsent, type Row } from './row.ts'

/** Tells screen readers when the last photo is up, wherever on the page they are. */
export function useBatchNews(): void {
  const { batch, notice } = useGarner()
  const { rows, reading } = useStore(batch.state)
  const unsent = rows.filter(isUnsent).length
  const before = useRef(unsent)
  useEffect(() => {
    const wasSending = before.current > 0
    before.current = unsent
    // The open sheet says it itself, and what lies behind a modal sheet is not read out.
    if (document.querySelector('dialog.batch[open]')) return
    if (wasSending && unsent === 0 && reading === 0 && rows.length > 0)
      notice.say('All uploaded. It is safe to close.')
  }, [unsent, reading, rows.length, notice])
}

/** Rows name the meals they became, on whichever days those are: the days are read once their photos have ended. */
export function useMealsOf(rows: readonly Row[], pending: Pending | undefined, startOfDay: string): void {
  const { meals } = useGarner()
  const ended = new Set(pending?.finished.map((entry) => entry.id))
  const dates = new Set<string>()
  for (const row of rows) {
    if (row.upload.is === 'uploaded' && ended.has(row.upload.entryId))
      dates.add(diaryDay(row.when.date, row.when.time, startOfDay))
  }
  useQueries({
    queries: [...dates].map((date) => ({
      queryKey: ['diary', 'days', date, date],
      queryFn: ({ signal }: { signal: AbortSignal }) => meals.days(date, date, signal),
    })),
  })
}
