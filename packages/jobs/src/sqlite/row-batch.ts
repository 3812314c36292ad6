import type { Value } from '@garner/db'
import type { SyncStatements } from '@garner/db/sqlite'
import { ROWS_MAX } from './sql.ts'

/** Rows that are written several a statement: `add` them all, then `write`. */
export class RowBatch {
  readonly #db: SyncStatements
  /** The statement for so many rows. */
  readonly #of: (rows: number) => string
  #cells: Value[] = []
  #count = 0

  constructor(db: SyncStatements, of: (rows: number) => string) {
    this.#db = db
    this.#of = of
  }

  add(...cells: Value[]): void {
    for (const one of cells) this.#cells.push(one)
    this.#count++
    if (this.#count === ROWS_MAX) this.write()
  }

  /** What is left. */
  write(): void {
    if (this.#count > 0) this.#db.run(this.#of(this.#count), ...this.#cells)
    this.#cells = []
    this.#count = 0
  }
}
