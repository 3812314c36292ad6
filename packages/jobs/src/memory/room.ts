import { QueueFull } from '../errors.ts'
import { type Bounds, brokenBound } from '../rank.ts'
import { isPending, type Tables } from './tables.ts'

/** The room that is left for one call, counted when it begins. */
export class Room {
  readonly #ofTenants = new Map<string, number>()
  #total = 0
  readonly #limits: Bounds & { retryAfterMs: number }

  constructor(tables: Tables, limits: Bounds & { retryAfterMs: number }) {
    this.#limits = limits
    for (const one of tables.jobs.all()) if (isPending(one)) this.#add(one.tenant)
  }

  /** Takes a place for a job of the tenant. Errors: QueueFull, and none is taken. */
  take(tenant: string): void {
    const pending = { tenant: this.#ofTenants.get(tenant) ?? 0, total: this.#total }
    const broken = brokenBound(pending, this.#limits)
    if (broken) throw new QueueFull({ ...broken, retryAfterMs: this.#limits.retryAfterMs })
    this.#add(tenant)
  }

  #add(tenant: string): void {
    this.#ofTenants.set(tenant, (this.#ofTenants.get(tenant) ?? 0) + 1)
    this.#total++
  }
}
