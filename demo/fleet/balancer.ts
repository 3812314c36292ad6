import type { Instance } from './instance.ts'

/** How long an instance may say nothing before it is taken out. */
export const BALANCER_MS = 1_500
/** Between two looks at one that was taken out, and how long each may take. */
const HEALTH_EVERY_MS = 250
/** What a health check of a list's server would be: so many reads of a list that no reader comes for. */
const FIRST_READS = 20
const FIRST_LIST = '/api/bookmarks?group=study&sort=-saved_at'

/**
 * What stands between readers and instances. An instance gets readers once it has answered a health check and a few
 * reads, so that its code has run before the first of them comes; one that breaks a connection or says nothing for too
 * long is left out until its health check is answered again.
 */
export class Balancer {
  #up: Instance[] = []
  #next = 0

  /** Resolves when it is sent readers. Errors: when it is not healthy. */
  async admit(instance: Instance): Promise<void> {
    const health = await instance.ask('/readyz')
    if (health.status !== 200) throw new Error(`${instance.name} is not ready: ${health.body}`)
    for (let n = 0; n < FIRST_READS; n++) await instance.ask(FIRST_LIST)
    this.#up = [...this.#up, instance]
  }

  /** Those that are sent readers, in the order in which they came. */
  get up(): readonly Instance[] {
    return this.#up
  }

  /** Who is next in turn; undefined when there is nobody. */
  next(): Instance | undefined {
    return this.#up[this.#next++ % Math.max(1, this.#up.length)]
  }

  /** It has broken a connection, or said nothing for too long. */
  async lost(instance: Instance): Promise<void> {
    if (!this.#up.includes(instance)) return
    this.#up = this.#up.filter((one) => one !== instance)
    while (!instance.hasEnded) {
      await new Promise((resolve) => setTimeout(resolve, HEALTH_EVERY_MS))
      const answer = await instance.ask('/healthz', { timeoutMs: HEALTH_EVERY_MS }).catch(() => null)
      if (answer?.status !== 200) continue
      this.#up = [...this.#up, instance]
      break
    }
  }
}
