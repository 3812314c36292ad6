/** One thing that will happen. */
export interface Scheduled {
  cancel(): void
}

interface Entry {
  atMs: number
  place: number
  run: (() => void) | null
}

/**
 * The one true time of a simulated world. Nothing happens between two events: an event runs, everything that follows
 * from it runs until all of it waits, and only then does time move on to the next. Of two events of one instant the
 * one that was scheduled first runs first, so a run depends on its seed alone.
 */
export class Timeline {
  /** True time in ms since the world began. */
  nowMs = 0
  /** Events that have run. */
  ran = 0
  readonly #isSelfRunning: boolean
  #heap: Entry[] = []
  #place = 0
  #isRunning = false

  /** @param isSelfRunning runs as soon as something is scheduled; for callers that only await promises */
  constructor({ isSelfRunning = false }: { isSelfRunning?: boolean } = {}) {
    this.#isSelfRunning = isSelfRunning
  }

  after(ms: number, run: () => void): Scheduled {
    return this.at(this.nowMs + Math.max(0, Math.ceil(ms)), run)
  }

  at(atMs: number, run: () => void): Scheduled {
    const entry: Entry = { atMs: Math.max(atMs, this.nowMs), place: this.#place++, run }
    push(this.#heap, entry)
    if (this.#isSelfRunning && !this.#isRunning) void this.run(() => false)
    return {
      cancel: () => {
        entry.run = null
      },
    }
  }

  /** Runs events until `isOver` says so or nothing is left to happen. */
  async run(isOver: () => boolean): Promise<void> {
    this.#isRunning = true
    try {
      while (!isOver()) {
        const entry = pop(this.#heap)
        if (!entry) break
        if (!entry.run) continue
        this.nowMs = entry.atMs
        this.ran++
        entry.run()
        await rest()
      }
    } finally {
      this.#isRunning = false
    }
  }
}

/** Resolves once every promise that could go on has gone on: those run before the event loop's next turn. */
function rest(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

function isBefore(a: Entry, b: Entry): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.place < b.place)
}

function push(heap: Entry[], entry: Entry): void {
  let at = heap.length
  heap.push(entry)
  while (at > 0) {
    const above = (at - 1) >> 1
    if (!isBefore(entry, heap[above]!)) break
    heap[at] = heap[above]!
    at = above
  }
  heap[at] = entry
}

function pop(heap: Entry[]): Entry | undefined {
  const first = heap[0]
  const last = heap.pop()
  if (!first || !last || heap.length === 0) return first
  let at = 0
  for (;;) {
    let below = 2 * at + 1
    if (below >= heap.length) break
    if (below + 1 < heap.length && isBefore(heap[below + 1]!, heap[below]!)) below++
    if (!isBefore(heap[below]!, last)) break
    heap[at] = heap[below]!
    at = below
  }
  heap[at] = last
  return first
}
