import type { Around, Clock, Database, Queryable, Transaction } from '@garner/db'
import type { FastifyBaseLogger, FastifyRequest } from 'fastify'
import { type ChangeCount, changeCountOf } from '../../change-count.ts'
import type { App } from '../../http.ts'
import type { Principal } from '../../principal.ts'
import { makeSeal } from '../../seal.ts'
import { type Hearing, hearAccessNews, type Listen } from './access-news.ts'
import { accountRead } from './account-read.ts'
import { adminRoutes } from './admin-routes.ts'
import { authRoutes } from './auth-routes.ts'
import { Authenticator } from './authenticate.ts'
import { type Changed, changes } from './changes.ts'
import { Deletion, type Purges } from './deletion.ts'
import { seedDemo } from './demo.ts'
import { type GroupCounts, groupRoutes } from './group-routes.ts'
import { defaultGroup, type Membership, membership } from './groups.ts'
import { Identity } from './identity.ts'
import { meRoutes } from './me-routes.ts'
import { claimSetup, isApproved, namesOf } from './people.ts'
import { SessionCookie } from './session-cookie.ts'
import { tokenRoutes } from './token-routes.ts'
import { ApiTokens } from './tokens.ts'

/** Everything that the rest of the server may use of accounts. */
export type { Changed } from './changes.ts'
export type { Purges } from './deletion.ts'
export type { GroupCounts } from './group-routes.ts'
export { defaultGroup, type Membership, membership, membersOf } from './groups.ts'
export { accountsMigrations } from './migrations.ts'
export { isSetUp } from './people.ts'

export interface AccountsOptions {
  db: Database
  clock: Clock
  ids: () => string
  randomBytes: (n: number) => Uint8Array
  /** The seams `account.read`, `purge.after-queue` and `purge.after-photos`. Left out: nothing stands between. */
  around?: Around | undefined
  /** Signs cookies; at least 32 random characters, the same for every process and every start. */
  secret: string
  /** The public address (`https://garner.example`), where a proxy hides it; also decides on secure cookies. */
  baseUrl?: string | undefined
  isDemo: boolean
  purges: Purges
  countsOf: (userId: string, groupIds: string[]) => Promise<Map<string, GroupCounts>>
  /** In the transaction that changes whose read marks the members of a group see. Left out: nobody has to know. */
  marksShown?: (tx: Transaction, groupId: string) => Promise<void>
  /** How old the answer to "who is this, and what may they read" may be for a list read. Default 0: always asked. */
  accessMaxAgeMs?: number
  /** Whether anything has changed since. */
  changes?: ChangeCount
  /** Where other processes' changes are heard of. Left out: nowhere. */
  listen?: Listen
  /** A list reader's patience with that question. Default 250. */
  readWaitMs?: number
  /** Told of changes that are durable; see `Changed`. */
  onChange: (change: Changed) => void
  logger: FastifyBaseLogger
}

/**
 * What other features ask about people, inside a transaction or on the read side. Errors: StoreUnavailable, when it
 * cannot be known; then nothing may be shown or done.
 */
export interface People {
  /**
   * The person behind a request as the database has them now, by what they have shown; null when that was taken from them
   * meanwhile. `who`: as `authenticate` has answered them.
   */
  confirmed(q: Queryable, who: Principal): Promise<Principal | null>
  /** This person's part in the group; null when they have none, were turned away, or there is no such group. */
  membership(q: Queryable, userId: string, groupId: string): Promise<Membership | null>
  /** The group that a save without a group goes to; null for someone in no group. */
  defaultGroup(q: Queryable, userId: string): Promise<string | null>
  /** Whether work may be done for this account: asked when a job is claimed, and again when it publishes. */
  isApproved(q: Queryable, userId: string): Promise<boolean>
  /** Names by id, for the ids that exist. */
  namesOf(q: Queryable, userIds: string[]): Promise<Map<string, string>>
}

export interface Accounts {
  /** For `createApp`: who is asking, for every request. */
  authenticate: (request: FastifyRequest) => Promise<Principal | null> | Principal | null
  register: (app: App) => void
  people: People
  /** Of a list read: the groups that the person may read, their default one first. */
  groupsOf: (request: FastifyRequest) => ReadonlySet<string>
  /**
   * From now on whatever other processes change is known here at once, as far as it can be heard; see access-news.ts.
   * Null where nothing is remembered that it could change.
   */
  hear: () => Hearing | null
  /** Puts the demo people in place; safe to repeat. */
  seedDemo: () => Promise<void>
  /** Drops sessions that are over, and says how many; once a day is plenty. They are refused anyway. */
  sweep: () => Promise<number>
  /** Loads what signing in needs (0.65 s, 50 MB) before someone waits for it. Not needed in demo mode. */
  warmUp: () => Promise<void>
}

export function createAccounts(options: AccountsOptions): Accounts {
  const { db, clock, ids, randomBytes, around, secret, baseUrl, isDemo, purges, countsOf, logger } = options
  const marksShown = options.marksShown ?? (async () => {})
  const isSecure = baseUrl?.startsWith('https:') ?? false
  const { accessMaxAgeMs = 0, readWaitMs = 250 } = options
  const changed = changes((change) => {
    authenticator.forget()
    options.onChange(change)
  })
  const read = accountRead({ around, clock })
  // SQLite answers within the turn; a server can be silent.
  const silent: Around | undefined = db.dialect === 'sqlite' ? undefined : async (_point, effect) => effect()
  const listRead = accountRead({ around: around ?? silent, clock, maxMs: readWaitMs })
  const cookie = new SessionCookie({ secret, secure: isSecure })
  const tokens = new ApiTokens({ db, clock, ids, randomBytes, logger })
  const identity = new Identity({ db, clock, ids, secret, baseUrl, isSecure, logger })
  const authenticator = new Authenticator({
    ...{ db, clock, read, listRead, cookie, tokens, isDemo, baseUrl, accessMaxAgeMs },
    changes: options.changes ?? changeCountOf(db),
  })
  const deletion = new Deletion({
    db,
    around: around ?? (async (_point, effect) => effect()),
    purges,
    isDemo,
    changed,
    logger,
  })
  const claim = (userId: string) =>
    db.transaction(async (tx) => {
      const isFirst = await claimSetup(tx, userId, { ids, nowMs: clock.nowMs() })
      changed(tx, { kind: 'account', id: userId })
      return isFirst
    })

  return {
    authenticate: authenticator.authenticate,
    groupsOf: (request) => authenticator.groupsOf(request),
    register(app) {
      authRoutes(app, {
        identity,
        isDemo,
        baseUrl,
        onEnded: () => authenticator.forget(),
        onSignUp: async (userId) => {
          await claim(userId)
        },
      })
      meRoutes(app, { db, read, isDemo, identity, authenticator, cookie, deletion, claimSetup: claim })
      groupRoutes(app, { db, clock, ids, read, isDemo, countsOf, changed, marksShown })
      tokenRoutes(app, {
        ...{ db, clock, read, tokens, seal: makeSeal({ secret, randomBytes }) },
        onRevoked: () => authenticator.forget(),
      })
      adminRoutes(app, { db, clock, ids, read, isDemo, changed })
    },
    people: {
      confirmed: (q, who) => authenticator.confirmed(q, who),
      membership: (q, userId, groupId) => read(() => membership(q, userId, groupId)),
      defaultGroup: (q, userId) => read(() => defaultGroup(q, userId)),
      isApproved: (q, userId) => read(() => isApproved(q, userId)),
      namesOf,
    },
    hear() {
      const { listen } = options
      if (!listen || accessMaxAgeMs === 0) return null
      return hearAccessNews({ listen, clock, onNews: () => authenticator.forget() })
    },
    seedDemo: () => seedDemo(db, clock),
    sweep: () =>
      db.transaction(async (tx) => {
        const now = new Date(clock.nowMs()).toISOString()
        return (await tx.run('DELETE FROM sessions WHERE expires_at <= ?', now)).changes
      }),
    warmUp: () => identity.warmUp(),
  }
}
