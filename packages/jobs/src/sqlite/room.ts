import type { SyncStatements } from '@garner/db/sqlite'
import type { ClaimKind } from '../store.ts'
import * as sql from './sql.ts'

/**
 * The room that limited kinds and their keys have during one claim: what runs is counted once, from the tables, and
 * then along with what is taken. Kinds and keys without limits cost nothing.
 */
export class Room {
  readonly #db: SyncStatements
  readonly #nowMs: number
  readonly #kinds = new Map<string, number>()
  readonly #keys = new Map<string, Map<string, { running: number; nextAtMs: number }>>()

  constructor(db: SyncStatements, nowMs: number) {
    this.#db = db
    this.#nowMs = nowMs
  }

  ofKind({ kind, concurrency }: ClaimKind): boolean {
    return concurrency === undefined || this.#runningOfKind(kind) < concurrency
  }

  ofKey({ kind, perKey, spacingMs }: ClaimKind, key: string): boolean {
    if (perKey === undefined && !spacingMs) return true
    const { running, nextAtMs } = this.#key(kind, key)
    return (perKey === undefined || running < perKey) && !(spacingMs && nextAtMs > this.#nowMs)
  }

  take({ kind, concurrency, perKey, spacingMs }: ClaimKind, key: string | null): void {
    if (concurrency !== undefined) this.#kinds.set(kind, this.#runningOfKind(kind) + 1)
    if (key === null || (perKey === undefined && !spacingMs)) return
    const found = this.#key(kind, key)
    found.running++
    if (!spacingMs) return
    found.nextAtMs = this.#nowMs + spacingMs
    this.#db.run(sql.SPACE_KEY, kind, key, found.nextAtMs)
  }

  #runningOfKind(kind: string): number {
    const known = this.#kinds.get(kind)
    if (known !== undefined) return known
    const running = this.#db.get<{ n: number }>(sql.RUNNING_OF_KIND, kind)?.n ?? 0
    this.#kinds.set(kind, running)
    return running
  }

  #key(kind: string, key: string): { running: number; nextAtMs: number } {
    let keys = this.#keys.get(kind)
    if (!keys) {
      keys = new Map()
      this.#keys.set(kind, keys)
    }
    let found = keys.get(key)
    if (!found) {
      const running = this.#db.get<{ n: number }>(sql.RUNNING_OF_KEY, kind, key)!.n
      const nextAtMs = this.#db.get<{ nextAtMs: number }>(sql.NEXT_START, kind, key)?.nextAtMs ?? 0
      found = { running, nextAtMs }
      keys.set(key, found)
    }
    return found
  }
}
