import { ConstraintViolation, TransactionClosed } from '@garner/db'
import {
  InvariantBroken,
  OperationConflict,
  QueueFull,
  SchemaMismatch,
  StoreUnavailable,
} from '../../src/errors.ts'

/** An error as a message carries it: its class, by its code or its name, and what it says of itself. */
export interface ErrorSketch {
  is: string
  message: string
  stack: string | undefined
  fields: Record<string, unknown>
}

/** What a store throws, and what is wrong with a call. Others come out as plain Errors, with their fields. */
const CLASSES: Record<string, { prototype: Error }> = {
  CONSTRAINT_VIOLATION: ConstraintViolation,
  INVARIANT_BROKEN: InvariantBroken,
  OPERATION_CONFLICT: OperationConflict,
  QUEUE_FULL: QueueFull,
  SCHEMA_MISMATCH: SchemaMismatch,
  STORE_UNAVAILABLE: StoreUnavailable,
  TRANSACTION_CLOSED: TransactionClosed,
  RangeError,
  TypeError,
}

export function sketchOf(error: Error): ErrorSketch {
  const { name, message, stack } = error
  const fields: Record<string, unknown> = { ...error }
  return { is: typeof fields.code === 'string' ? fields.code : name, message, stack, fields }
}

/** An error like the one that was sketched, of the same class. */
export function errorFrom({ is, message, stack, fields }: ErrorSketch): Error {
  const error = new Error(message)
  if (stack !== undefined) error.stack = stack
  Object.setPrototypeOf(error, (CLASSES[is] ?? Error).prototype)
  return Object.assign(error, fields)
}
