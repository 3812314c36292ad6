import { duration } from '../../words/calendar.ts'
import { count } from '../../words/count.ts'
import { shortDay, weekdayAndDay } from '../../words/local-day.ts'
import { type EnergyUnit, energyWords } from '../amounts.ts'
import { reasonWords } from '../meal-words.ts'
import type { Fate } from './live-row.ts'
import { BYTES_MAX, doubtOf, hasWhen, type Row, type When } from './row.ts'

/** A row's state: what happened in bold, then what Garner does or one may do. */
export interface RowWords {
  strong: string
  rest: string
}

export interface Around {
  today: string
  unit: EnergyUnit
  /** How many of one's photos wait on the server: said when there is no room. */
  pending: number
  nowMs: number
}

export function rowWords(row: Row, fate: Fate | null, around: Around): RowWords {
  if (fate) return fateWords(fate, around)
  const { upload } = row
  switch (upload.is) {
    case 'waiting':
      return waitingWords(row)
    case 'uploading':
      return { strong: `Uploading, ${percent(upload.sent, row.file.size)} %`, rest: '' }
    case 'paused':
      return pausedWords(upload, around)
    case 'duplicate':
      return duplicateWords(upload, { today: around.today, isForced: row.force })
    case 'failed':
      return failedWords(row, upload)
    case 'uploaded':
      return { strong: 'Uploaded, safe to close.', rest: '' }
  }
}

function waitingWords(row: Row): RowWords {
  const doubt = doubtOf(row)
  if (doubt?.why === 'future' || doubt?.why === 'reset-clock')
    return { strong: `This photo says ${doubt.says.slice(0, 4)}. Is that right?`, rest: '' }
  if (!hasWhen(row)) return { strong: 'No time in this photo. When was it?', rest: '' }
  if (row.whenSource === 'photo')
    return { strong: 'Waiting.', rest: 'Time read from the photo. Change it if the camera was wrong.' }
  if (row.whenSource === 'guess')
    return { strong: 'Waiting.', rest: 'The time is a guess. Change it if it is wrong.' }
  return { strong: 'Waiting.', rest: whenWords[row.whenSource] }
}

const whenWords = {
  file: 'With the time of the file.',
  now: 'With the time now.',
  typed: 'With the time you gave.',
}

function pausedWords(upload: Extract<Row['upload'], { is: 'paused' }>, around: Around): RowWords {
  const wait = duration(upload.untilMs - around.nowMs)
  if (upload.why === 'full')
    return {
      strong:
        around.pending > 0
          ? `${count(around.pending, 'photo is', 'photos are')} waiting already.`
          : 'The queue is full.',
      rest: `This one goes up when there is room, in about ${wait}.`,
    }
  if (upload.why === 'fast')
    return { strong: 'Many photos in a short time.', rest: `This one goes up in about ${wait}.` }
  return { strong: 'Garner is busy.', rest: `This one goes up in about ${wait}.` }
}

function duplicateWords(
  { of, at }: Extract<Row['upload'], { is: 'duplicate' }>,
  { today, isForced }: { today: string; isForced: boolean },
): RowWords {
  const on = `on ${shortDay(at.date, today)} at ${at.time}`
  const strong = 'Already logged.'
  if (of === 'same-minute') return { strong, rest: `You have another photo of this minute, ${on}.` }
  if (!isForced) return { strong, rest: `You have this photo ${on}.` }
  return { strong, rest: `It is the very same file, which you have ${on}; it is not logged twice.` }
}

function failedWords(row: Row, upload: Extract<Row['upload'], { is: 'failed' }>): RowWords {
  const strong = 'Not uploaded.'
  const { why } = upload
  switch (why.kind) {
    case 'dropped':
      return {
        strong,
        rest:
          upload.sent > 0
            ? `The connection dropped at ${percent(upload.sent, row.file.size)} %.`
            : 'Garner did not answer.',
      }
    case 'too-large':
      return { strong, rest: `${megabytes(row.file.size)} is over the limit of ${megabytes(BYTES_MAX)}.` }
    case 'not-a-picture':
      return { strong, rest: why.detail || 'This is not a picture Garner can read.' }
    case 'refused':
      return { strong, rest: why.detail || 'Something went wrong; trying again is safe.' }
  }
}

function fateWords(fate: Fate, { unit }: Around): RowWords {
  switch (fate.is) {
    case 'queued':
      return { strong: 'Uploaded, safe to close.', rest: beforeWords(fate.before) }
    case 'describing':
      return { strong: 'Being described.', rest: '' }
    case 'retrying':
      return {
        strong: 'Uploaded, safe to close.',
        rest: 'The estimate did not answer yet; Garner asks again.',
      }
    case 'logged':
      return { strong: 'Logged.', rest: fate.meal ? mealWords(fate.meal, unit) : '' }
    case 'placeholder':
      return { strong: 'Logged with photo and time.', rest: reasonInRow(fate.reason) }
    case 'dead':
      return { strong: 'Could not be saved in 6 tries.', rest: 'The photo and its estimate are kept.' }
    case 'discarded':
      return { strong: 'Not logged.', rest: 'It was discarded.' }
  }
}

/** After "Logged with photo and time." it goes on in one breath. */
function reasonInRow(reason: string | null): string {
  return reasonWords(reason).replace(/\. Nothing was counted\.$/, '; nothing was counted.')
}

function beforeWords(before: number): string {
  if (before === 0) return ''
  return before === 1 ? '1 is before it.' : `${before} are before it.`
}

function mealWords(
  meal: { description: string; nutrients: { energy_kcal: number | null } },
  unit: EnergyUnit,
) {
  const { energy_kcal: energy } = meal.nutrients
  return energy === null ? meal.description : `${meal.description}, ${energyWords(energy, unit)}`
}

/** Never 100 before the server has said yes. */
export function percent(sent: number, size: number): number {
  return size === 0 ? 0 : Math.min(99, Math.floor((sent / size) * 100))
}

/** `31 MB`; between the limit and the next megabyte it says `25.1 MB`, or the sentence would contradict itself. */
export function megabytes(bytes: number): string {
  const size = bytes / 1_000_000
  // Just over the limit must not read as the limit.
  return `${size > 26 ? Math.round(size) : Math.ceil(size * 10) / 10} MB`
}

/** `File date: Fri 28, 21:14` */
export function fileDateWords(at: When): string {
  return `File date: ${weekdayAndDay(at.date)}, ${at.time}`
}
