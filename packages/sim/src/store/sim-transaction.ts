import { TransactionClosed } from '@garner/db'
import type { MemoryTransaction } from '@garner/jobs/memory'
import type { Happening } from '../checks/happening.ts'
import type { AppRow, AppTables } from './app-tables.ts'

/** How a statement gets from a life to the server. */
export type Statement = <T>(op: string, effect: () => Promise<T>) => Promise<T>

/**
 * An open transaction as a process holds it: each statement travels to the server and back, so the process may die
 * or stand still between any two of them, and the lease may run out meanwhile.
 */
export class SimTransaction {
  readonly memory: MemoryTransaction
  readonly #app: AppTables
  readonly #statement: Statement
  /** What will have happened if it commits. */
  readonly happenings: Happening[] = []
  readonly rows: AppRow[] = []
  #closed: string | null = null
  #abort: (why: unknown) => void = () => {}

  constructor({
    memory,
    app,
    statement,
  }: { memory: MemoryTransaction; app: AppTables; statement: Statement }) {
    this.memory = memory
    this.#app = app
    this.#statement = statement
  }

  /** Called once, when the server ends it before its time. */
  onAbort(abort: (why: unknown) => void): void {
    this.#abort = abort
  }

  /** Rolls it back from the server's side. */
  abort(why: unknown): void {
    this.close('the server has rolled it back')
    this.#abort(why)
  }

  /** No statement is taken any more. */
  close(why: string): void {
    this.#closed ??= why
  }

  /** Errors: TransactionClosed; StoreUnavailable, and then the whole transaction is rolled back. */
  run<T>(op: string, effect: (memory: MemoryTransaction) => Promise<T>): Promise<T> {
    return this.#statement(op, () => {
      if (this.#closed) throw new TransactionClosed(this.#closed)
      return effect(this.memory)
    })
  }

  put(row: AppRow): Promise<void> {
    return this.run(`put ${row.table}`, async (memory) => {
      this.#app.put(memory, row)
      this.rows.push(row)
    })
  }

  get<Table extends AppRow['table']>(
    table: Table,
    key: string,
  ): Promise<Extract<AppRow, { table: Table }> | undefined> {
    return this.run(`get ${table}`, async () => this.#app.get(table, key))
  }
}
