import type { PhotoMetadata } from '../metadata.ts'
import { type NamedTime, timeInName } from './file-name.ts'
import { offsetBySatellite, satelliteMs } from './satellite.ts'
import { instantMs, parseOffset, parseStamp, type Stamp } from './stamp.ts'
import { type Where, wallClock } from './zone.ts'

/**
 * When a photo was taken, from everything that came with it.
 *
 * Promises: the first of these that says something, in this order: the client's own date and time (client-time.ts,
 * which comes before all this); EXIF's original stamp, then its digitised one; XMP; the file's name; the satellites;
 * EXIF's stamp of the last change; the file's own time. The moment of upload is never taken for the moment of the
 * meal. What is not a clock's reading beside the picture is marked as a guess, for a person to confirm.
 * Assumes nothing of what it reads: impossible stamps, stamps of a reset clock and of the future count as absent,
 * and are told in `doubts`.
 */
export type TakenSource =
  | 'client'
  | 'exif:DateTimeOriginal'
  | 'exif:CreateDate'
  | 'xmp'
  | 'filename'
  | 'filename+gps'
  | 'filename+exif'
  | 'filename+file'
  | 'gps'
  | 'exif:ModifyDate'
  | 'file'

export interface Taken extends Stamp {
  source: TakenSource
  guess: boolean
  /** The offset is what lay between the camera's clock and the satellites', so it is as right as that clock. */
  offsetIsDerived: boolean
}

/** A stamp that was there and could not be used, so that the page can say what the photo says. */
export interface Doubt {
  source: TakenSource
  /** `YYYY-MM-DD HH:MM`, or the text as written when it is no date at all (at most 40 characters). */
  says: string
  why: 'unreadable' | 'reset-clock' | 'future'
}

export interface TakenInput {
  metadata: PhotoMetadata
  fileName?: string | undefined
  /** The file's own time as a browser reports it, Unix ms. The bare API cannot know it. */
  lastModifiedMs?: number | undefined
  where: Where
  nowMs: number
}

/** Near the end of the year 9999: a client's microseconds are not milliseconds, and years of five digits sort before ours. */
const INSTANT_MAX_MS = 253_402_000_000_000
/** A camera whose battery was out starts again at 1970, 1980 or nought; digital photos begin in the nineties. */
const FIRST_YEAR = 1990

/**
 * Why a stamp cannot be a meal's time, or null. East of Greenwich it is tomorrow already: a date is in the future
 * only when it is more than one day after the date in UTC.
 */
export function whyImplausible(date: string, nowMs: number): 'reset-clock' | 'future' | null {
  if (Number(date.slice(0, 4)) < FIRST_YEAR) return 'reset-clock'
  return date > lastPossibleDate(nowMs) ? 'future' : null
}

function lastPossibleDate(nowMs: number): string {
  return new Date(nowMs + 86_400_000).toISOString().slice(0, 10)
}

/**
 * Shape: `taken` null when nothing is known; `taken.time` null when the day alone is (a messenger's name): whoever
 * calls asks for the rest and does not make it up.
 */
export function resolveTaken(input: TakenInput): { taken: Taken | null; doubts: Doubt[] } {
  const evidence = new Evidence(input)
  const taken =
    evidence.exif('exif:DateTimeOriginal') ??
    evidence.exif('exif:CreateDate') ??
    evidence.xmp() ??
    evidence.name() ??
    evidence.gps() ??
    evidence.modified() ??
    evidence.file()
  return { taken, doubts: evidence.doubts }
}

class Evidence {
  readonly doubts: Doubt[] = []
  readonly #input: TakenInput
  readonly #satelliteMs: number | null

  constructor(input: TakenInput) {
    this.#input = input
    this.#satelliteMs = satelliteMs(input.metadata.gps)
  }

  exif(source: 'exif:DateTimeOriginal' | 'exif:CreateDate'): Taken | null {
    const { exif } = this.#input.metadata
    const isOriginal = source === 'exif:DateTimeOriginal'
    const [text, fraction] = isOriginal
      ? [exif.dateTimeOriginal, exif.subSecOriginal]
      : [exif.createDate, exif.subSecDigitized]
    const stamp = this.#read(source, text)
    if (!stamp?.time) return null
    // OffsetTime belongs to the last change: a winter photo edited in summer has the summer's. It is the last resort.
    const tags = isOriginal
      ? [exif.offsetOriginal, exif.offsetDigitized, exif.offset]
      : [exif.offsetDigitized, exif.offsetOriginal, exif.offset]
    const written = tags.map((tag) => parseOffset(tag ?? '')).find((one) => one !== null) ?? stamp.offset
    const offset = written ?? this.#offsetBySatellite(stamp)
    const taken = takenFrom(source, { ...stamp, seconds: withFraction(stamp, fraction), offset })
    return { ...taken, offsetIsDerived: written === null && offset !== null }
  }

  xmp(): Taken | null {
    const { dateTimeOriginal, dateCreated, createDate } = this.#input.metadata.xmp
    for (const text of [dateTimeOriginal, dateCreated, createDate]) {
      const stamp = this.#read('xmp', text)
      if (stamp?.time) return takenFrom('xmp', stamp)
    }
    return null
  }

  name(): Taken | null {
    const named = timeInName(this.#input.fileName ?? '')
    if (!named) return null
    const isGuess = named.is === 'instant'
    const stamp = this.#plausible('filename', this.#readingOf(named))
    if (!stamp) return null
    if (stamp.time !== null) return takenFrom('filename', stamp, isGuess)
    return this.#minuteOf(stamp.date) ?? takenFrom('filename', stamp, true)
  }

  gps(): Taken | null {
    return this.#atInstant('gps', this.#satelliteMs)
  }

  /** An editor writes it at each save, a plain camera once: of some use, and never certain. */
  modified(): Taken | null {
    const stamp = this.#read('exif:ModifyDate', this.#input.metadata.exif.modifyDate)
    return stamp?.time ? takenFrom('exif:ModifyDate', stamp, true) : null
  }

  file(): Taken | null {
    return this.#atInstant('file', this.#input.lastModifiedMs ?? null)
  }

  /**
   * The name has the day, something weaker has a minute of that day: together they are a good guess. A minute of
   * another day is the copy's, and is no help.
   */
  #minuteOf(date: string): Taken | null {
    const others = [
      { weaker: this.gps(), source: 'filename+gps' },
      { weaker: this.modified(), source: 'filename+exif' },
      { weaker: this.file(), source: 'filename+file' },
    ] as const
    for (const { weaker, source } of others) if (weaker?.date === date) return { ...weaker, source }
    return null
  }

  #readingOf(named: NamedTime): Stamp | null {
    return named.is === 'reading' ? named.stamp : wallClock(named.atMs, this.#input.where)
  }

  #atInstant(source: 'gps' | 'file', atMs: number | null): Taken | null {
    const isInstant = atMs !== null && atMs > 0 && atMs < INSTANT_MAX_MS
    const stamp = isInstant ? this.#plausible(source, wallClock(atMs, this.#input.where)) : null
    return stamp && takenFrom(source, stamp, true)
  }

  #offsetBySatellite(stamp: Stamp): string | null {
    return this.#satelliteMs === null ? null : offsetBySatellite(stamp, this.#satelliteMs)
  }

  #read(source: TakenSource, text: string | undefined): Stamp | null {
    if (text === undefined || isBlank(text)) return null
    const stamp = parseStamp(text)
    if (!stamp) this.#doubt({ source, says: text.slice(0, 40), why: 'unreadable' })
    return this.#plausible(source, stamp)
  }

  #plausible(source: TakenSource, stamp: Stamp | null): Stamp | null {
    if (!stamp) return null
    const why = whyImplausible(stamp.date, this.#input.nowMs)
    if (why === null) return stamp
    this.#doubt({ source, says: [stamp.date, stamp.time].filter(Boolean).join(' '), why })
    return null
  }

  #doubt(doubt: Doubt): void {
    const isKnown = this.doubts.some((one) => one.source === doubt.source && one.says === doubt.says)
    if (!isKnown) this.doubts.push(doubt)
  }
}

function takenFrom(source: TakenSource, stamp: Stamp, guess = false): Taken {
  return { ...stamp, source, guess, offsetIsDerived: false }
}

/** The standard's "unknown": blanks or zeros between the colons. */
function isBlank(text: string): boolean {
  return /^[\s\0:0/T.-]*$/.test(text)
}

function withFraction(stamp: Stamp, fraction: string | undefined): string {
  const digits = /^\d{1,9}/.exec(fraction?.trim() ?? '')?.[0]
  return digits && stamp.seconds.length === 2 ? `${stamp.seconds}.${digits}` : stamp.seconds
}

/** `YYYY-MM-DDTHH:MM:SSZ`, or null without an offset. For order and for proof; nobody is shown it. */
export function instantOf(taken: Stamp): string | null {
  const atMs = instantMs(taken)
  return atMs === null ? null : new Date(atMs).toISOString().replace('.000Z', 'Z')
}
