/** What a program on PostgreSQL imports: the store, how the database is opened, and its own transactions. */
export {
  openPostgres,
  type PostgresDatabase,
  type PostgresOptions,
  type PostgresTransaction,
} from '@garner/db/postgres'
export {
  type DrizzleTransaction,
  fromDrizzle,
  fromKysely,
  fromPg,
  fromPostgresJs,
  type KyselyTransaction,
  type PgClient,
  type PostgresJsTransaction,
} from './adapters.ts'
export {
  createPostgresStore,
  jobsMigrations,
  type PostgresJobStore,
  type PostgresStoreOptions,
} from './store.ts'
