import type { Clock, Database } from '@garner/db'
import { type BetterAuthOptions, betterAuth } from 'better-auth'
import { createAuthMiddleware } from 'better-auth/api'
import { hashPassword } from 'better-auth/crypto'
import type { FastifyBaseLogger } from 'fastify'
import { ADDRESS_HEADER, authCall } from './auth-call.ts'
import { garnerDialect } from './kysely-dialect.ts'
import { COOKIE_PREFIX, SESSION_RENEWED_AFTER_S, SESSION_S } from './session-cookie.ts'
import { TryLimit } from './try-limit.ts'

/**
 * Better Auth, set up for Garner. Only identity.ts imports this file, and only when someone signs in: loading it
 * and what it needs takes 0.65 s and 50 MB, which neither start-up nor a demo should pay.
 */
export interface BetterAuthSetup {
  db: Database
  clock: Clock
  ids: () => string
  secret: string
  baseUrl: string
  isSecure: boolean
  logger: FastifyBaseLogger
}

/**
 * 10 tries in 30 s: about what Better Auth allows by itself (3 in 10 s), with room for a few mistyped ones in a
 * row. Asking for accounts: 20, for a class that does so at once behind one address; each costs 100 ms of work.
 */
const TRIES = {
  '/sign-in/email': { window: 30, max: 10 },
  '/change-password': { window: 30, max: 10 },
  '/sign-up/email': { window: 30, max: 20 },
}

export type Auth = ReturnType<typeof makeAuth>

export function makeAuth(setup: BetterAuthSetup) {
  return betterAuth(authOptions(setup))
}

/** The table names are ours; migrations/sqlite/0001_accounts.sql makes them. */
export function authOptions({
  db,
  clock,
  ids,
  secret,
  baseUrl,
  isSecure,
  logger,
}: BetterAuthSetup): BetterAuthOptions {
  return {
    appName: 'Garner',
    baseURL: baseUrl,
    basePath: '/api/auth',
    // The list form, because a single secret gives way to one in the environment.
    secrets: [{ version: 1, value: secret }],
    database: { dialect: garnerDialect(db), type: 'sqlite', transaction: true },
    telemetry: { enabled: false },
    emailAndPassword: {
      enabled: true,
      minPasswordLength: 8,
      maxPasswordLength: 128,
      password: {
        hash: async (password) => authCall.getStore()?.passwordHash ?? (await hashPassword(password)),
      },
    },
    // Here, because it is after the limit of tries (each hash costs 100 ms and 32 MB) and before the transaction.
    hooks: {
      before: createAuthMiddleware(async ({ path, body }) => {
        const call = authCall.getStore()
        if (call && path === '/sign-up/email') call.passwordHash = await hashPassword(body.password)
      }),
    },
    user: {
      modelName: 'users',
      fields: { emailVerified: 'email_verified', createdAt: 'created_at', updatedAt: 'updated_at' },
    },
    session: {
      modelName: 'sessions',
      expiresIn: SESSION_S,
      updateAge: SESSION_RENEWED_AFTER_S,
      // A cached session would outlive its revocation.
      cookieCache: { enabled: false },
      fields: {
        userId: 'user_id',
        expiresAt: 'expires_at',
        ipAddress: 'ip_address',
        userAgent: 'user_agent',
        createdAt: 'created_at',
        updatedAt: 'updated_at',
      },
    },
    account: {
      modelName: 'credentials',
      fields: {
        userId: 'user_id',
        accountId: 'account_id',
        providerId: 'provider_id',
        accessToken: 'access_token',
        refreshToken: 'refresh_token',
        idToken: 'id_token',
        accessTokenExpiresAt: 'access_token_expires_at',
        refreshTokenExpiresAt: 'refresh_token_expires_at',
        createdAt: 'created_at',
        updatedAt: 'updated_at',
      },
    },
    verification: {
      modelName: 'verifications',
      fields: { expiresAt: 'expires_at', createdAt: 'created_at', updatedAt: 'updated_at' },
    },
    // On by word: left out, it is off unless NODE_ENV says production.
    rateLimit: {
      enabled: true,
      window: 10,
      max: 1_000,
      customRules: TRIES,
      customStorage: new TryLimit(clock),
    },
    advanced: {
      cookiePrefix: COOKIE_PREFIX,
      useSecureCookies: isSecure,
      // Said by word, because it would be off in tests and on in production.
      disableOriginCheck: false,
      ipAddress: { ipAddressHeaders: [ADDRESS_HEADER] },
      database: { generateId: ids, validateSchema: false },
    },
    // Otherwise it writes e-mail addresses and stacks to the console; the kind of error is all that a log may hold.
    logger: {
      level: 'error',
      log: (_level, _message, ...details) => {
        const error = details.find((one) => one instanceof Error) as (Error & { code?: string }) | undefined
        logger.warn({ kind: error?.name, code: error?.code }, 'sign-in library reported an error')
      },
    },
    onAPIError: { throw: true },
  }
}
