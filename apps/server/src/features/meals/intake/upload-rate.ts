import type { Clock } from '@garner/db'
import { tooMany } from '../../../problem.ts'

const WINDOW_MS = 60_000

/**
 * How many photos a person may send within any minute: an exact log of the last minute's arrivals, in this process's
 * memory. With several servers each keeps its own, so the bound is per server; what protects the queue itself is its
 * bound, which is the database's.
 */
export class UploadRate {
  readonly #clock: Clock
  readonly #perMinute: number
  readonly #arrivals = new Map<string, number[]>()

  constructor({ clock, perMinute }: { clock: Clock; perMinute: number }) {
    this.#clock = clock
    this.#perMinute = perMinute
  }

  /** Counts one. Errors: 429 saying when the next is taken; it is not counted then. */
  take(userId: string): void {
    const nowMs = this.#clock.monotonicMs()
    const recent = (this.#arrivals.get(userId) ?? []).filter((atMs) => atMs > nowMs - WINDOW_MS)
    if (recent.length >= this.#perMinute) {
      const detail = `You have sent ${recent.length} photos within a minute, so this one was not taken. Send it again in a moment.`
      throw tooMany('upload-rate', detail, recent[0]! + WINDOW_MS - nowMs)
    }
    recent.push(nowMs)
    this.#arrivals.delete(userId)
    this.#arrivals.set(userId, recent)
    this.#forgetOne(nowMs)
  }

  /** The person who has been quiet for longest, if for a minute: the map stays as large as it has to be. */
  #forgetOne(nowMs: number): void {
    const [oldest] = this.#arrivals
    if (oldest && oldest[1].at(-1)! <= nowMs - WINDOW_MS) this.#arrivals.delete(oldest[0])
  }
}
