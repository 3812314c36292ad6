/** For this long one reading of the server's clock is enough: what it is wrong by when the clock is set ends with it. */
const KNOWN_MS = 1_000
/** The server's readings are whole milliseconds, rounded down. */
const GRAIN_MS = 1

/**
 * What the server's clock shows at most, from a reading that came with an answer: it was taken after the question was
 * sent, so it cannot have gone on for longer than the time since then. Ages that are told by it are never too young,
 * whatever this host's own clock shows; they are too old by at most one round trip.
 *
 * Instants are ms; `nowMs` and `sentMs` those of one clock of this process that never goes back.
 */
export class ServerClock {
  #sentMs = Number.NEGATIVE_INFINITY
  #serverMs = 0

  learn({ sentMs, serverMs }: { sentMs: number; serverMs: number }): void {
    // Answers may overtake each other between processes, never on one connection; a later question knows better.
    if (sentMs < this.#sentMs) return
    this.#sentMs = sentMs
    this.#serverMs = serverMs
  }

  /** Another server may answer from now on. */
  forget(): void {
    this.#sentMs = Number.NEGATIVE_INFINITY
  }

  /** null when the last reading is too old, and the server itself has to be asked. */
  atMostMs(nowMs: number): number | null {
    const sinceMs = nowMs - this.#sentMs
    return sinceMs <= KNOWN_MS ? this.#serverMs + GRAIN_MS + sinceMs : null
  }
}
