import { load, versionOf } from './packages.ts'
import type { Description } from './peer.ts'
import { place } from './place.ts'

/** As much of the `pg` package as is used here. */
export interface PgClient {
  connect(): Promise<unknown>
  query(query: PgQuery | string, values?: unknown[]): Promise<{ rows: Record<string, unknown>[] }>
  end(): Promise<void>
}
export interface PgQuery {
  /** Prepared under this name, once per connection. */
  name?: string
  text: string
  values?: unknown[]
}
export interface PgPool {
  connect(): Promise<PgClient & { release(): void }>
  on(event: 'error', then: (error: Error) => void): void
  end(): Promise<void>
}

interface Pg {
  Client: new (options: { connectionString: string }) => PgClient
  Pool: new (options: { connectionString: string; max?: number }) => PgPool
}

export function urlOf(database: string): string {
  const { postgres } = place()
  return `postgres://${postgres.user}@127.0.0.1:${postgres.port}/${database}`
}

export async function connectTo(database: string): Promise<PgClient> {
  const { Client } = await load<Pg>('pg')
  const client = new Client({ connectionString: urlOf(database) })
  await client.connect()
  return client
}

export async function poolOf(database: string, max: number): Promise<PgPool> {
  const { Pool } = await load<Pg>('pg')
  const pool = new Pool({ connectionString: urlOf(database), max })
  pool.on('error', () => {}) // the database is dropped under idle connections between two cases
  return pool
}

export async function withClient<T>(database: string, work: (client: PgClient) => Promise<T>): Promise<T> {
  const client = await connectTo(database)
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** An empty database of this name. Checkpoints, so that a round does not pay for the one before it. */
export async function freshDatabase(database: string): Promise<void> {
  await withClient('postgres', async (client) => {
    await client.query(`DROP DATABASE IF EXISTS ${database} WITH (FORCE)`)
    await client.query(`CREATE DATABASE ${database}`)
    await client.query('CHECKPOINT')
  })
}

/** What autovacuum would have done by the time that a table of this size has stood for a minute. */
export async function vacuum(database: string): Promise<void> {
  await withClient(database, (client) => client.query('VACUUM ANALYZE'))
}

export async function describePostgres(library: string): Promise<Description> {
  return withClient('postgres', async (client) => {
    const setting = async (name: string) => String((await client.query(`SHOW ${name}`)).rows[0]?.[name])
    const [fsync, commit] = [await setting('fsync'), await setting('synchronous_commit')]
    return {
      version: versionOf(library),
      backend: `postgres ${(await setting('server_version')).split(' ')[0]}`,
      durability: `fsync=${fsync}, synchronous_commit=${commit}`,
      isSynced: fsync === 'on' && commit === 'on',
    }
  })
}

/** A monitor that counts with a statement answering one row with the column `n`. */
export async function countingMonitor(
  database: string,
  countSql: string,
): Promise<{ remaining(): Promise<number>; close(): Promise<void> }> {
  const client = await connectTo(database)
  return {
    remaining: async () => Number((await client.query(countSql)).rows[0]?.n),
    close: () => client.end(),
  }
}
