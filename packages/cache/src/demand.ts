/** Ten buckets of 100 ms: a shift of demand shows within a tenth of a second, for ten numbers of memory. */
const BUCKETS = 10
const BUCKET_MS = 100

/**
 * How many origin reads were asked for within the last second, whether or not they were allowed, and the most that
 * were under way or waiting at once. What a holder's share follows.
 */
export class Demand {
  readonly #asked = new Array<number>(BUCKETS).fill(0)
  readonly #most = new Array<number>(BUCKETS).fill(0)
  #bucket = 0
  /** When a read was asked for last, by the caller's clock. */
  lastMs = Number.NEGATIVE_INFINITY

  /** One more is asked for, with `atOnce` under way or waiting, itself included. */
  add(nowMs: number, atOnce: number): void {
    this.#turn(nowMs)
    this.lastMs = nowMs
    const at = this.#bucket % BUCKETS
    this.#asked[at]!++
    this.#most[at] = Math.max(this.#most[at]!, atOnce)
  }

  perSecond(nowMs: number): number {
    this.#turn(nowMs)
    return this.#asked.reduce((sum, one) => sum + one, 0)
  }

  atOnce(nowMs: number): number {
    this.#turn(nowMs)
    return Math.max(...this.#most)
  }

  #turn(nowMs: number): void {
    const bucket = Math.floor(nowMs / BUCKET_MS)
    for (let n = Math.max(this.#bucket + 1, bucket - BUCKETS + 1); n <= bucket; n++) {
      this.#asked[n % BUCKETS] = 0
      this.#most[n % BUCKETS] = 0
    }
    this.#bucket = Math.max(this.#bucket, bucket)
  }
}
