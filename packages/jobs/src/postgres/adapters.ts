import type { Transaction, Value } from '@garner/db'
import { numbered, TAKE_TURN } from '@garner/db/postgres'

/**
 * The caller's own transaction, from whichever library it comes, as one that this store can submit, cancel and repair
 * in: the job exists exactly if that transaction commits. Nothing of these libraries is imported; each adapter asks for
 * no more than the one method it uses.
 *
 * Rows come as the library gives them (some give bigint columns as strings). When the transaction commits is known to
 * the caller alone, so hints (`afterCommit`) are dropped; work is announced by the database, in the same commit.
 * After an error PostgreSQL refuses the rest of the transaction; the library says so in its own words.
 */
function transactionOf(
  query: (text: string, values: Value[]) => Promise<{ rows: unknown[]; changes: number }>,
): Transaction {
  return {
    all: async <R>(sql: string, ...params: Value[]) => (await query(numbered(sql), params)).rows as R[],
    get: async <R>(sql: string, ...params: Value[]) =>
      (await query(numbered(sql), params)).rows[0] as R | undefined,
    run: async (sql, ...params) => ({ changes: (await query(numbered(sql), params)).changes }),
    async takeTurn(name) {
      await query(numbered(TAKE_TURN), [name])
    },
    afterCommit() {},
  }
}

export interface PgClient {
  query(text: string, values: unknown[]): Promise<{ rows: unknown[]; rowCount: number | null }>
}

/** A client of `pg` (or of its pool) between its BEGIN and COMMIT. */
export function fromPg(client: PgClient): Transaction {
  return transactionOf(async (text, values) => {
    const { rows, rowCount } = await client.query(text, values)
    return { rows, changes: rowCount ?? 0 }
  })
}

export interface PostgresJsTransaction {
  unsafe(text: string, values?: unknown[]): PromiseLike<readonly unknown[] & { count: number | null }>
}

/** The `sql` that `sql.begin` of postgres.js hands over. */
export function fromPostgresJs(sql: PostgresJsTransaction): Transaction {
  return transactionOf(async (text, values) => {
    const rows = await sql.unsafe(text, values)
    return { rows: [...rows], changes: rows.count ?? 0 }
  })
}

/** What Kysely itself makes of `sql` with its parameters. */
interface KyselyQuery {
  sql: string
  parameters: readonly unknown[]
  query: { kind: 'RawNode'; sqlFragments: readonly string[]; parameters: readonly never[] }
  queryId: { queryId: string }
}

export interface KyselyTransaction {
  executeQuery(query: KyselyQuery): Promise<{ rows: unknown[]; numAffectedRows?: bigint | undefined }>
}

/** A transaction of Kysely on its PostgreSQL dialect. */
export function fromKysely(trx: KyselyTransaction): Transaction {
  return transactionOf(async (text, values) => {
    const { rows, numAffectedRows } = await trx.executeQuery({
      ...{ sql: text, parameters: values, queryId: { queryId: 'garner' } },
      query: { kind: 'RawNode', sqlFragments: [text], parameters: [] },
    })
    return { rows, changes: Number(numAffectedRows ?? rows.length) }
  })
}

export interface DrizzleTransaction {
  execute(query: string | { getSQL(): unknown }): PromiseLike<unknown>
}

/** A transaction of Drizzle, on `pg` or on postgres.js. */
export function fromDrizzle(tx: DrizzleTransaction): Transaction {
  return transactionOf(async (text, values) => {
    const query = { getSQL: () => query, toQuery: () => ({ sql: text, params: values }) }
    const answer = (await tx.execute(query)) as { rows?: unknown[]; rowCount?: number; count?: number }
    const rows = answer.rows ?? [...(answer as unknown as unknown[])]
    return { rows, changes: answer.rowCount ?? answer.count ?? 0 }
  })
}
