import { PictureError } from '../picture-error.ts'

/**
 * A bounded line in front of work that only so many may do at a time.
 *
 * Promises: at most `lanes` at work, in the order in which they came; one beyond `waitingMax` is refused at once
 * (`busy`) and costs nothing. Keeps nothing but promises: cut off at any point, nothing is owed.
 */
export class Line {
  readonly #lanes: number
  readonly #waitingMax: number
  readonly #waiting: { start: () => void; refuse: (error: unknown) => void }[] = []
  #working = 0

  constructor({ lanes, waitingMax }: { lanes: number; waitingMax: number }) {
    this.#lanes = lanes
    this.#waitingMax = waitingMax
  }

  get waiting(): number {
    return this.#waiting.length
  }

  /**
   * Errors: PictureError `busy`; what `work` fails with; when `signal` aborts, its reason: who waits leaves the line,
   * what is at work is left to end, and keeps its lane until then.
   */
  async through<Result>(work: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    signal?.throwIfAborted()
    if (this.#working < this.#lanes) this.#working += 1
    else await this.#turn(signal)
    const working = work().finally(() => this.#next())
    return signal ? orAborted(working, signal) : working
  }

  /** Refuses all who wait. */
  clear(): void {
    for (const { refuse } of this.#waiting.splice(0)) refuse(new PictureError('busy'))
  }

  #turn(signal: AbortSignal | undefined): Promise<void> {
    if (this.#waiting.length >= this.#waitingMax) throw new PictureError('busy')
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(place), 1)
        reject(signal!.reason)
      }
      const stay = () => signal?.removeEventListener('abort', leave)
      const place = {
        start: () => {
          stay()
          resolve()
        },
        refuse: (error: unknown) => {
          stay()
          reject(error)
        },
      }
      signal?.addEventListener('abort', leave, { once: true })
      this.#waiting.push(place)
    })
  }

  /** The lane goes to the first in line without being free in between: nobody who comes now can slip in. */
  #next(): void {
    const first = this.#waiting.shift()
    if (first) first.start()
    else this.#working -= 1
  }
}

function orAborted<Result>(working: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const leave = () => reject(signal.reason)
    signal.addEventListener('abort', leave, { once: true })
    working.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave))
  })
}
