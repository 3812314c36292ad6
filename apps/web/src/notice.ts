import type { Clock } from './browser.ts'
import { createStore, type Store } from './store.ts'

export interface ToastAction {
  label: string
  run(): void
}

export interface Toast {
  id: number
  words: string
  actions: ToastAction[]
}

/** Screen readers are told at most one thing every 2 s: what comes faster waits its turn, and the oldest is dropped. */
const PAUSE_MS = 2_000
const WAITING_MAX = 3

/**
 * Tells people what happened: one toast at a time, and a quiet line for screen readers. What lies behind a modal sheet
 * is neither reached nor read out, so both are told inside the topmost one that is open.
 */
export class Notice {
  readonly toast: Store<Toast | null> = createStore<Toast | null>(null)
  readonly said: Store<string> = createStore('')
  /** The modal sheets that are open, the topmost last. */
  readonly modals: Store<readonly HTMLElement[]> = createStore<readonly HTMLElement[]>([])
  readonly #clock: Clock
  #waiting: string[] = []
  #talking = false
  #lastId = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  show(words: string, actions: ToastAction[] = []): void {
    this.#lastId += 1
    this.toast.set({ id: this.#lastId, words, actions })
  }

  /** Tells inside this sheet from now on; the function that is answered ends that. */
  tellIn(modal: HTMLElement): () => void {
    this.modals.set((before) => [...before, modal])
    return () => this.modals.set((before) => before.filter((one) => one !== modal))
  }

  dismiss(id?: number): void {
    this.toast.set((now) => (id === undefined || now?.id === id ? null : now))
  }

  say(words: string): void {
    this.#waiting = [...this.#waiting.filter((one) => one !== words), words].slice(-WAITING_MAX)
    if (!this.#talking) void this.#talk()
  }

  async #talk(): Promise<void> {
    this.#talking = true
    for (let words = this.#waiting.shift(); words !== undefined; words = this.#waiting.shift()) {
      this.said.set(words)
      await this.#clock.sleep(PAUSE_MS)
      this.said.set('')
    }
    this.#talking = false
  }
}
