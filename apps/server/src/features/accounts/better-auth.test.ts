import { getMigrations } from 'better-auth/db/migration'
import { pino } from 'pino'
import { afterEach, describe, expect, it } from 'vitest'
import { DIALECT } from '../../testing/database.ts'
import { authCall } from './auth-call.ts'
import { authOptions, makeAuth } from './better-auth.ts'
import { SECRET, type World, world } from './fixture.ts'

let here: World
afterEach(() => here.close())

function setup() {
  return {
    db: here.db,
    clock: here.clock,
    ids: () => 'an-id',
    secret: SECRET,
    baseUrl: 'http://garner.invalid',
    isSecure: false,
    logger: pino({ level: 'silent' }),
  }
}

describe('Better Auth on our database', () => {
  // Those of PostgreSQL are the same (database/tables.test.ts); Better Auth would look for them in SQLite's catalogue.
  it.skipIf(DIALECT !== 'sqlite')(
    'finds every table and column that it expects in our migration',
    async () => {
      here = await world()
      const { toBeCreated, toBeAdded } = await getMigrations(authOptions(setup()))
      expect([toBeCreated, toBeAdded]).toEqual([[], []])
      await here.db.transaction((tx) => tx.run('ALTER TABLE sessions DROP COLUMN user_agent'))
      const after = await getMigrations(authOptions(setup()))
      expect(after.toBeAdded.map((one) => one.table)).toEqual(['sessions'])
    },
  )

  it('takes our ids and keeps instants as ISO text', async () => {
    here = await world()
    const { api } = makeAuth(setup())
    const body = { name: 'Ines', email: 'Ines@Example.org', password: 'correct horse battery' }
    await api.signUpEmail({ body })
    const user = await here.db.read.get('SELECT id, email, created_at, role, status FROM users')
    expect(user).toEqual({
      id: 'an-id',
      email: 'ines@example.org',
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      role: 'member',
      status: 'pending',
    })
  })

  it('has telemetry off and calls nobody', async () => {
    here = await world()
    const { fetch } = globalThis
    const called: unknown[] = []
    globalThis.fetch = (async (...args: unknown[]) => {
      called.push(args[0])
      throw new Error('nothing may be called')
    }) as typeof fetch
    try {
      expect((await here.signUp('ines')).statusCode).toBe(200)
    } finally {
      globalThis.fetch = fetch
    }
    expect(called).toEqual([])
    expect(authOptions(setup()).telemetry).toEqual({ enabled: false })
  })

  it('has hashed the password before it opens the transaction that others would wait for', async () => {
    here = await world()
    const { transaction } = here.db
    const hashed: boolean[] = []
    here.db.transaction = (work, options) => {
      const call = authCall.getStore()
      if (call) hashed.push(call.passwordHash !== undefined)
      return transaction(work, options)
    }
    await here.signUp('ines')
    expect(hashed).toEqual([true])
    const { password } = (await here.db.read.get<{ password: string }>('SELECT password FROM credentials'))!
    expect(password).toMatch(/^[0-9a-f]{32}:[0-9a-f]{128}$/)
  })
})
