import { type Distribution, DURATION_BUCKETS } from './metric.ts'

/** Observations of one kind, kept as counts by bucket: the memory does not grow with them. */
export class Histogram {
  readonly #perBucket = new Array<number>(DURATION_BUCKETS.length).fill(0)
  #count = 0
  #sum = 0

  observe(seconds: number): void {
    const bucket = DURATION_BUCKETS.findIndex((bound) => seconds <= bound)
    if (bucket >= 0) this.#perBucket[bucket]!++
    this.#count++
    this.#sum += seconds
  }

  read(kind: string): Distribution {
    let below = 0
    const atMost = this.#perBucket.map((n) => {
      below += n
      return below
    })
    return { labels: { kind }, atMost, count: this.#count, sum: this.#sum }
  }
}
