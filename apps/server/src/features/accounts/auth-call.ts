import { AsyncLocalStorage } from 'node:async_hooks'
import type { StoreUnavailable } from '@garner/db'

/** The address that tries are counted by; set from the connection, never taken from the client. */
export const ADDRESS_HEADER = 'x-garner-address'

/** What goes along with one call into Better Auth, past its own code, which has no place for it. */
export interface AuthCall {
  /** The new password's hash, made before the transaction: hashing takes 100 ms, and others would wait for it. */
  passwordHash?: string
  /** Set when the database did not take something; Better Auth answers that as if the input were at fault. */
  trouble?: StoreUnavailable
}

export const authCall = new AsyncLocalStorage<AuthCall>()
