import { badRequest, type HttpProblem } from '../../../problem.ts'
import { isZone, type PhotoMetadata, readClientTime, resolveTaken, type Taken } from '../photo/index.ts'
import type { Upload, UploadField } from './upload.ts'

/** What was sent beside the photo, checked. */
export interface Said {
  /** The client's own date and time; null when it leaves them to the photo. */
  taken: Taken | null
  zone: string | undefined
  offset: string | undefined
  lastModifiedMs: number | undefined
  fileName: string
  /** The day of the batch's oldest photo; null when it is not told. */
  since: string | null
  isForced: boolean
}

type Wrong = { path: string; message: string }

/** Errors: 400 naming every bad field. */
export function checkedFields(upload: Pick<Upload, 'fields' | 'partName'>, nowMs: number): Said {
  const { fields } = upload
  const wrong: Wrong[] = []
  const client = readClientTime(fields, nowMs)
  if (!client.ok) wrong.push(...client.errors)
  const since = sinceOf(fields, nowMs, wrong)
  if (fields.zone && !isZone(fields.zone))
    wrong.push({ path: 'zone', message: 'A time zone such as Europe/Berlin.' })
  const lastModifiedMs = fields.last_modified ? Number(fields.last_modified) : undefined
  if (lastModifiedMs !== undefined && !/^\d{1,15}$/.test(fields.last_modified!)) {
    wrong.push({ path: 'last_modified', message: 'Milliseconds since 1970, a whole number.' })
  }
  const isForced = truth(fields.force)
  if (isForced === null) wrong.push({ path: 'force', message: 'true or false.' })
  if (wrong.length > 0) throw refused(wrong)
  return {
    taken: client.ok ? client.taken : null,
    ...{ zone: fields.zone || undefined, offset: fields.offset || undefined, lastModifiedMs, since },
    fileName: fields.filename || upload.partName,
    isForced: isForced ?? false,
  }
}

/**
 * When the photo was taken, as it will be stored. The photo itself is asked only where the client says nothing.
 * Errors: 400 when nobody knows, so that its sender asks a person instead of guessing.
 */
export function takenOf(
  { taken, zone, offset, lastModifiedMs, fileName }: Said,
  { metadata, nowMs }: { metadata: PhotoMetadata; nowMs: number },
): Taken & { time: string } {
  const found =
    taken ?? resolveTaken({ metadata, fileName, lastModifiedMs, where: { zone, offset }, nowMs }).taken
  if (found?.time) return { ...found, time: found.time }
  const detail = found
    ? `The photo says only its day (${found.date}), not the time. Send date and time.`
    : 'The photo does not say when it was taken. Send date and time.'
  throw badRequest(detail, [
    { path: 'date', message: 'is missing' },
    { path: 'time', message: 'is missing' },
  ])
}

/** `since_time` only says where in that day the batch begins; the day is what is looked at. */
function sinceOf(fields: Partial<Record<UploadField, string>>, nowMs: number, wrong: Wrong[]): string | null {
  if (!fields.since && !fields.since_time) return null
  const read = readClientTime({ date: fields.since, time: fields.since_time || '00:00' }, nowMs)
  if (read.ok) return read.taken?.date ?? null
  const names: Record<string, string> = { date: 'since', time: 'since_time' }
  wrong.push(...read.errors.map(({ path, message }) => ({ path: names[path] ?? path, message })))
  return null
}

function truth(text: string | undefined): boolean | null {
  if (text === undefined || text === '' || text === 'false' || text === '0') return false
  return text === 'true' || text === '1' ? true : null
}

function refused(wrong: Wrong[]): HttpProblem {
  const detail = `The form is not valid: ${wrong.map(({ path, message }) => `${path}: ${message}`).join(' ')}`
  return badRequest(detail, wrong)
}
