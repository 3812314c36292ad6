import { nowMs, sleep } from '../lib/clock.ts'

/**
 * The script of every probe: A takes the job and stalls; the library takes the job back as it does when A has died;
 * B takes it and is still at it; A ends; we look; then B fails. A library that fences by the attempt shows B's job
 * untouched by A, and B's failure recorded.
 */
export interface Probe {
  peer: string
  /** The package whose version is said; undefined for what is in this repository. */
  library: string | undefined
  server: 'none' | 'postgres' | 'redis'
  /** What was seen, in the library's own words. */
  run(): Promise<Record<string, unknown>>
}

/** A door that a handler waits behind. */
export class Gate {
  readonly #opened = Promise.withResolvers<void>()

  open(): void {
    this.#opened.resolve()
  }

  passed(): Promise<void> {
    return this.#opened.promise
  }
}

/** Looks every 50 ms until `look` answers something. Errors: Error after 20 s. */
export async function until<T>(look: () => T | Promise<T>): Promise<NonNullable<T>> {
  const untilMs = nowMs() + 20_000
  for (;;) {
    const seen = await look()
    if (seen) return seen as NonNullable<T>
    if (nowMs() > untilMs) throw new Error(`Waited 20 s for ${look}.`)
    await sleep(50)
  }
}
