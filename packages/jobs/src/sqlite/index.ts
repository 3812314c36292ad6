/** What a program on SQLite imports: the store, and how the database under it is opened. */
export { openSqlite, type SqliteOptions } from '@garner/db/sqlite'
export { createSqliteStore, jobsMigrations, type SqliteJobStore, type SqliteStoreOptions } from './store.ts'
