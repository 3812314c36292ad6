import type { Doubt, Taken } from '@garner/server/taken'
import { isDay, isTime } from '../../words/local-day.ts'
import type { FoundTime } from './found-time.ts'

/** Where the time in a row comes from. */
export type WhenSource = 'photo' | 'guess' | 'file' | 'now' | 'typed'

export interface When {
  date: string
  time: string
}

/**
 * How far a photo's upload has come. After `uploaded` the server knows more: its entry says whether it waits, is
 * described, or has ended (live-row.ts).
 */
export type UploadState =
  | { is: 'waiting' }
  | { is: 'uploading'; sent: number }
  /** No room on the server, or too many at once: goes up by itself. */
  | { is: 'paused'; untilMs: number; why: 'full' | 'fast' | 'busy' }
  | { is: 'uploaded'; entryId: string }
  | { is: 'duplicate'; of: 'same-photo' | 'same-minute'; mealId: string | null; at: When }
  | { is: 'failed'; why: Refusal; sent: number }

export type Refusal =
  | { kind: 'dropped' }
  | { kind: 'too-large' }
  | { kind: 'not-a-picture'; detail: string }
  | { kind: 'refused'; detail: string }

export interface Row {
  /** Its name in the list. */
  id: string
  /** The Idempotency-Key: one per thing that is asked for, so that a repeat cannot log it twice. */
  key: string
  file: File
  /** A picture that the browser can show itself; null for HEIC and what is no picture. */
  preview: string | null
  found: FoundTime
  /** As they stand in the fields, also while they are half typed. */
  when: When
  whenSource: WhenSource
  /** The photo's own reading, moved along with the batch; what `when` is while nobody has typed. */
  taken: Taken | null
  /** Log it although it looks the same, or another has the same minute. */
  force: boolean
  /** Somebody is writing in its fields: it does not go up with half a time. */
  isBeingEdited: boolean
  upload: UploadState
}

/** 25 MB as the server counts them. */
export const BYTES_MAX = 25_000_000

export function rowOf(picked: {
  id: string
  key: string
  file: File
  preview: string | null
  found: FoundTime
}): Row {
  const { taken } = picked.found
  const isTooLarge = picked.file.size > BYTES_MAX
  return {
    ...picked,
    taken,
    when: { date: taken?.date ?? '', time: taken?.time ?? '' },
    whenSource: taken === null || taken.guess ? 'guess' : 'photo',
    force: false,
    isBeingEdited: false,
    upload: isTooLarge ? { is: 'failed', why: { kind: 'too-large' }, sent: 0 } : { is: 'waiting' },
  }
}

/** A stamp that cannot be right, and that nothing better has replaced: the person is asked. */
export function doubtOf(row: Row): Doubt | null {
  if (row.whenSource !== 'photo' && row.whenSource !== 'guess') return null
  return row.found.doubts.find((doubt) => doubt.why !== 'unreadable') ?? null
}

export function hasWhen(row: Row): boolean {
  return isDay(row.when.date) && isTime(row.when.time)
}

/** A question only a person can answer stands in its way. */
export function isAsking(row: Row): boolean {
  return row.upload.is === 'waiting' && (!hasWhen(row) || doubtOf(row) !== null)
}

/** It goes up when its turn comes. */
export function isReady(row: Row): boolean {
  if (row.isBeingEdited) return false
  return (row.upload.is === 'waiting' && !isAsking(row)) || row.upload.is === 'paused'
}

/** It goes up by itself, at the latest once its person has answered its question. */
export function isToUpload(row: Row): boolean {
  return row.upload.is === 'waiting' || row.upload.is === 'uploading' || row.upload.is === 'paused'
}

/** The person may want it all the same. Once is enough: what is refused even so is the very same file. */
export function canForce(row: Row): boolean {
  return row.upload.is === 'duplicate' && !row.force
}

/** It can be tried again as it is. */
export function isDropped({ upload }: Row): boolean {
  return upload.is === 'failed' && upload.why.kind === 'dropped'
}

/** Not on the server yet, and meant to be: closing the page would lose it. */
export function isUnsent(row: Row): boolean {
  return isToUpload(row) || isDropped(row)
}

/** Whether the fields may be written in: not while its bytes are on their way, and not after. */
export function isEditable(row: Row): boolean {
  const { upload } = row
  if (upload.is === 'failed') return upload.why.kind === 'dropped' || upload.why.kind === 'refused'
  return upload.is === 'waiting' || upload.is === 'paused'
}
