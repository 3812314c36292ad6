/**
 * What the client takes from the browser itself: time, chance, ids, the network, and two small shelves of text.
 * Everything else gets it from here, so a test can hand over its own.
 */
export interface Clock {
  /** Unix milliseconds. */
  nowMs(): number
  /** Resolves after `ms`, or at once when the signal aborts; never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

/** localStorage or sessionStorage, or neither (private windows, full disks): then what is kept lives as long as the page. */
export interface Shelf {
  read(key: string): string | null
  write(key: string, value: string | null): void
}

export interface Browser {
  clock: Clock
  /** In [0, 1). */
  random(): number
  newId(): string
  fetch: typeof fetch
  /** Shared by all tabs of this browser. */
  shelf: Shelf
  /** This tab's own. */
  tabShelf: Shelf
}

/** A shelf that survives a browser that refuses to store: it forgets with the page, and never throws. */
export function shelf(storage: () => Storage): Shelf {
  const memory = new Map<string, string>()
  return {
    read(key) {
      try {
        return storage().getItem(key) ?? memory.get(key) ?? null
      } catch {
        return memory.get(key) ?? null
      }
    },
    write(key, value) {
      memory.delete(key)
      try {
        if (value === null) storage().removeItem(key)
        else storage().setItem(key, value)
      } catch {
        if (value !== null) memory.set(key, value)
      }
    },
  }
}

export const realClock: Clock = {
  nowMs: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve()
      const done = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', done)
        resolve()
      }
      const timer = setTimeout(done, ms)
      signal?.addEventListener('abort', done)
    }),
}

export function realBrowser(): Browser {
  return {
    clock: realClock,
    random: () => Math.random(),
    // randomUUID exists on secure origins only; a Garner at home may be reached over plain http.
    newId: () => crypto.randomUUID?.() ?? hexId(),
    fetch: (input, init) => fetch(input, init),
    shelf: shelf(() => localStorage),
    tabShelf: shelf(() => sessionStorage),
  }
}

function hexId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('')
}
