export { type Clock, ManualClock, systemClock } from './clock.ts'
export type { Around, Database, Queryable, Row, Transaction, Value } from './database.ts'
export {
  ConstraintViolation,
  SchemaMismatch,
  StoreUnavailable,
  TransactionClosed,
  type UnavailableReason,
} from './errors.ts'
export { type MigrationSet, migrate, pendingMigrations } from './migrate.ts'
