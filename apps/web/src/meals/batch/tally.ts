import { count } from '../../words/count.ts'
import type { Fate } from './live-row.ts'
import { isAsking, type Row } from './row.ts'

/** Which part of the meter a row belongs to. */
export type Part = 'logged' | 'coming' | 'uploading' | 'todo' | 'question' | 'undone'

export function partOf(row: Row, fate: Fate | null): Part {
  const { upload } = row
  if (fate) {
    if (fate.is === 'dead' || fate.is === 'discarded') return 'undone'
    return fate.is === 'logged' || fate.is === 'placeholder' ? 'logged' : 'coming'
  }
  if (upload.is === 'uploading') return 'uploading'
  if (upload.is === 'failed') return 'undone'
  return upload.is === 'duplicate' || isAsking(row) ? 'question' : 'todo'
}

export type Tally = Record<Part, number> & { all: number; needYou: number; toUpload: number }

export function tallyOf(parts: readonly Part[]): Tally {
  const tally = { logged: 0, coming: 0, uploading: 0, todo: 0, question: 0, undone: 0 }
  for (const part of parts) tally[part] += 1
  return {
    ...tally,
    all: parts.length,
    needYou: tally.question + tally.undone,
    toUpload: tally.uploading + tally.todo,
  }
}

/** Whether a row waits for its person. */
export const needsYou = (part: Part) => part === 'question' || part === 'undone'

/** `11 photos, 2 still to upload` */
export function headline(tally: Tally): string {
  const photos = count(tally.all, 'photo', 'photos')
  return tally.toUpload === 0 ? photos : `${photos}, ${tally.toUpload} still to upload`
}

/** The meter in words. */
export function tallyWords(tally: Tally): string {
  const words = [
    [tally.logged, 'logged'],
    [tally.coming, 'on their way'],
    [tally.uploading, 'uploading'],
    [tally.todo, 'waiting'],
    [tally.question, tally.question === 1 ? 'question' : 'questions'],
    [tally.undone, 'not done'],
  ] as const
  return words.flatMap(([n, what]) => (n === 0 ? [] : [`${n} ${what}`])).join(', ')
}
