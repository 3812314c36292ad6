import type { SavedBookmark } from '@garner/server/api'
import type { Browser } from '../browser.ts'
import type { Api } from '../http/api.ts'
import { failureOf } from '../http/failure.ts'
import { retryDelayMs } from '../http/retry.ts'
import { createStore, type Store } from '../store.ts'
import {
  afterRefusal,
  drop,
  type KeptLink,
  keep,
  nextToSend,
  readOutbox,
  refuse,
  waitingCount,
  writeOutbox,
} from './outbox.ts'

/**
 * Sends the outbox of the person who is signed in, one link at a time, oldest first. Cut anywhere: the link is still
 * on disk and goes again with its key, and the server answers a repeat with the first result.
 */
export class Outbox {
  readonly links: Store<KeptLink[]> = createStore<KeptLink[]>([])
  readonly #browser: Browser
  readonly #api: Api
  #user: string | null = null
  #sending = false
  #wake = new AbortController()
  #onSaved: (saved: SavedBookmark) => void = () => {}

  constructor(browser: Browser, api: Api) {
    this.#browser = browser
    this.#api = api
  }

  /** Whose links these are; null after a sign-out, which leaves them on disk for their owner. */
  open(user: string | null, onSaved: (saved: SavedBookmark) => void): void {
    this.#user = user
    this.#onSaved = onSaved
    this.#wake.abort()
    this.reload()
  }

  /** Another tab may have added or sent some. */
  reload(): void {
    this.links.set(this.#user === null ? [] : readOutbox(this.#browser.shelf, this.#user))
  }

  get waiting(): number {
    return waitingCount(this.links.get())
  }

  keep(link: Omit<KeptLink, 'keptAtMs' | 'refused'>): void {
    this.#change((links) => keep(links, { ...link, keptAtMs: this.#browser.clock.nowMs(), refused: null }))
  }

  remove(key: string): void {
    this.#change((links) => drop(links, key))
  }

  /**
   * Sends what waits until it is empty, asking again with growing pauses while nobody answers. Calling it while it
   * runs ends its pause: the network is back, says the browser, and it is often wrong by a second or two.
   */
  async drain(): Promise<void> {
    if (this.#user === null) return
    if (this.#sending) return this.#wake.abort()
    this.#sending = true
    const user = this.#user
    let failures = 0
    try {
      for (;;) {
        if (this.#user !== user) return
        this.reload()
        const link = nextToSend(this.links.get())
        if (!link) return
        try {
          const { url, note, group } = link
          const saved = await this.#api.save(
            { url, group, ...(note ? { note } : {}), ...(link.force ? { force: true } : {}) },
            link.key,
          )
          if (this.#user !== user) return
          this.remove(link.key)
          this.#onSaved(saved)
          failures = 0
        } catch (error) {
          const failure = failureOf(error)
          const verdict = afterRefusal(failure.status)
          if (verdict === 'refused') {
            this.#change((links) => refuse(links, link.key, failure.detail))
            continue
          }
          if (verdict === 'ask') return
          failures += 1
          const { retryAfterMs } = failure
          const wait = retryDelayMs({ failures, retryAfterMs, random: this.#browser.random() })
          this.#wake = new AbortController()
          await this.#browser.clock.sleep(wait, this.#wake.signal)
        }
      }
    } finally {
      this.#sending = false
    }
  }

  #change(change: (links: KeptLink[]) => KeptLink[]): void {
    if (this.#user === null) return
    // From disk, not from memory: another tab may have changed it since.
    const links = change(readOutbox(this.#browser.shelf, this.#user))
    writeOutbox(this.#browser.shelf, this.#user, links)
    this.links.set(links)
  }
}
