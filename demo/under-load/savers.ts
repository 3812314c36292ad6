import type { Balancer } from '../fleet/balancer.ts'
import { endOf } from '../fleet/ends.ts'

/** Between two saves; each is looked for at once on another instance. */
const EVERY_MS = 400
/** A save waits two seconds for the write lock. */
const PATIENCE_MS = 5_000

/**
 * Someone who saves, and looks at once on another instance with the version they were told (C5): the link is there, or
 * the answer is a refusal; a list without it is a promise broken.
 */
export class Savers {
  readonly counts = { saved: 0, notSaved: 0, seen: 0, refused: 0, missed: 0, unanswered: 0 }
  readonly #balancer: Balancer
  readonly #groups: string[]
  #n = 0

  constructor({ balancer, groups }: { balancer: Balancer; groups: string[] }) {
    this.#balancer = balancer
    this.#groups = groups
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#saveAndLook().catch(() => this.counts.unanswered++)
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS))
    }
  }

  async #saveAndLook(): Promise<void> {
    const { up } = this.#balancer
    const n = this.#n++
    const [here, there] = [up[n % up.length]!, up[(n + 1) % up.length]!]
    const group = this.#groups[n % this.#groups.length]!
    const url = `https://example.com/saved/${n}`
    const saved = await here.ask('/api/bookmarks', {
      ...{ method: 'POST', body: { group, url }, timeoutMs: PATIENCE_MS },
    })
    if (saved.status !== 201) {
      this.counts.notSaved++
      return
    }
    this.counts.saved++
    const headers = { 'x-garner-min-version': String(saved.headers['x-garner-version']) }
    const path = `/api/bookmarks?group=${group}&sort=-saved_at`
    const list = await there.ask(path, { headers, timeoutMs: PATIENCE_MS })
    if (endOf(list) === 'rejected') this.counts.refused++
    else if (list.body.includes(JSON.stringify(url))) this.counts.seen++
    else this.counts.missed++
  }
}
