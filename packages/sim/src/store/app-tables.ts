import type { Json } from '@garner/jobs'
import type { MemoryTransaction } from '@garner/jobs/memory'

/** One row of the application's own, as a handler or a route would write it. */
export type AppRow =
  /** Whether an account may be worked for. */
  | { table: 'accounts'; key: string; isAllowed: boolean }
  /** What jobs may be about, and how often it has changed. */
  | { table: 'subjects'; key: string; version: number }
  /** What somebody saved together with its job. */
  | { table: 'saved'; key: string; jobId: string }
  /** What a job has made: its id is the job's (J10). Two rows each, so that half of it can be seen. */
  | ({ table: 'results' } & Made)
  | ({ table: 'details' } & Made)
  /** What is shown of a job's failures and ends. */
  | { table: 'shown'; key: string; jobId: string; epoch: number; what: string }

interface Made {
  key: string
  jobId: string
  epoch: number
  version: number | null
  estimate: Json
}

/** The application's tables beside the jobs, in the same transactions. */
export class AppTables {
  readonly #rows = new Map<string, AppRow>()

  get<Table extends AppRow['table']>(
    table: Table,
    key: string,
  ): Extract<AppRow, { table: Table }> | undefined {
    return this.#rows.get(`${table} ${key}`) as Extract<AppRow, { table: Table }> | undefined
  }

  all<Table extends AppRow['table']>(table: Table): Extract<AppRow, { table: Table }>[] {
    return [...this.#rows.values()].filter((row) => row.table === table) as Extract<
      AppRow,
      { table: Table }
    >[]
  }

  put(tx: MemoryTransaction, row: AppRow): void {
    const at = `${row.table} ${row.key}`
    const before = this.#rows.get(at)
    tx.undo(() => {
      if (before) this.#rows.set(at, before)
      else this.#rows.delete(at)
    })
    this.#rows.set(at, row)
  }
}
