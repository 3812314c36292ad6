export { type Clock, ManualClock, systemClock } from './clock.ts'
export type { Around, Database, Queryable, Row, Transaction, Value } from './database.ts'
export {
  ConstraintViolation,
  LostRace,
  SchemaMismatch,
  StoreUnavailable,
  TransactionClosed,
  type UnavailableReason,
  UnstorableText,
} from './errors.ts'
export { Gathering, OwnFault, Refused, type Write } from './gathering.ts'
export { type MigrationSet, migrate, pendingMigrations } from './migrate.ts'
export { oneOf } from './one-of.ts'
export type { ReadBounds } from './read-bounds.ts'
