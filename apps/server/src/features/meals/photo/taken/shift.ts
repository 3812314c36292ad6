import { isOffsetOfAZone } from './satellite.ts'
import { offsetMinutes, offsetOf, readingMs } from './stamp.ts'
import { type Taken, whyImplausible } from './taken.ts'

/**
 * Moves a batch whose camera clock was wrong by so many minutes, forwards or back.
 * Shape: one result for each photo, in the same order: `taken` moved, or why the moved one cannot be (`taken` is then
 * as it was). A photo of which only the day is known stays: its day is not the camera's.
 * Units: whole minutes, of any size: the arithmetic is the calendar's, over clock changes and 24.8 days alike.
 */
export function shiftBatch(
  batch: readonly Taken[],
  { byMinutes, nowMs }: { byMinutes: number; nowMs: number },
): { taken: Taken; refused: 'reset-clock' | 'future' | null }[] {
  return batch.map((taken) => {
    const moved = shift(taken, byMinutes)
    const refused = whyImplausible(moved.date, nowMs)
    return refused === null ? { taken: moved, refused } : { taken, refused }
  })
}

function shift(taken: Taken, byMinutes: number): Taken {
  const { date, time, seconds } = taken
  if (time === null) return taken
  const text = new Date(readingMs({ date, time, seconds }) + byMinutes * 60_000).toISOString()
  const moved: Taken = { ...taken, date: text.slice(0, 10), time: text.slice(11, 16) }
  return taken.offsetIsDerived ? { ...moved, offset: besideTheSatellites(taken.offset!, byMinutes) } : moved
}

/** The satellites' clock was right all the time: what moves is the camera's distance from it. */
function besideTheSatellites(offset: string, byMinutes: number): string | null {
  const minutes = offsetMinutes(offset) + byMinutes
  return isOffsetOfAZone(minutes) ? offsetOf(minutes) : null
}
