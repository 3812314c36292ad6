import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type Config, ConfigError, isLoopback, readConfig } from './config.ts'

const CHECKS = {
  GARNER_FAULT: (text: string) => (text.includes('nowhere') ? 'POINT:ACTION' : null),
  GARNER_FETCH_ALLOW: (text: string) => (text.includes(' ') ? 'host or CIDR' : null),
}
const read = (argv: string[] = [], env: Record<string, string> = {}): Config => readConfig(argv, env, CHECKS)

/** What the operator is told; empty when the configuration is fine. */
function problems(argv: string[], env: Record<string, string> = {}): string[] {
  try {
    read(argv, env)
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
}

test('nothing is needed', () => {
  expect(read()).toMatchObject({
    ...{ role: 'all', host: '127.0.0.1', port: 8080, dataDir: resolve('./data'), isDemo: false, file: null },
    ...{
      database: { dialect: 'sqlite', path: resolve('./data/garner.db') },
      replicaUrl: null,
      fault: '',
      advanceMs: 0,
      fetchAllow: '',
    },
    ...{ leaseMs: 30_000, retryBaseMs: 30_000, fetchDeadlineMs: 20_000, readWaitMs: 250 },
    ...{ maxPending: 200, maxPendingTotal: 100_000 },
  })
})

test('settings come from the environment, an empty one counting as none; arguments come before them', () => {
  const env = {
    ...{ PORT: '9000', GARNER_DATA: '/srv/garner', GARNER_LEASE_S: '1.5', GARNER_RETRY_BASE_S: '0' },
    ...{
      GARNER_MAX_PENDING: '7',
      GARNER_DATABASE_URL: 'sqlite:/elsewhere/x.db',
      GARNER_FETCH_DEADLINE_S: '',
    },
  }
  expect(read(['serve'], env)).toMatchObject({
    ...{
      role: 'serve',
      port: 9000,
      dataDir: '/srv/garner',
      database: { dialect: 'sqlite', path: '/elsewhere/x.db' },
    },
    ...{ leaseMs: 1_500, retryBaseMs: 0, maxPending: 7, fetchDeadlineMs: 20_000 },
  })
  expect(read(['--port', '0', '--data', '/tmp/d', '--host', '::1'], env)).toMatchObject({
    ...{ port: 0, dataDir: '/tmp/d', host: '::1' },
  })
})

test('every bad value is named, all in one go', () => {
  const found = problems(['dance', '--port', '70000', '--wat'], {
    ...{
      PORT: 'x',
      GARNER_DEMO: 'yes',
      GARNER_LEASE_S: '0.5',
      GARNER_RETRY_BASE_S: '-1',
      GARNER_MAX_PENDING: '1.5',
    },
    ...{ GARNER_MAX_PENDING_TOTAL: '0', GARNER_FETCH_DEADLINE_S: 'NaN', GARNER_READ_WAIT_MS: '-1' },
    ...{
      GARNER_DATABASE_URL: 'mysql://x',
      GARNER_CACHE_URL: 'http://x',
      GARNER_BLOBS: '/x',
      GARNER_DELIVERY: 'pigeon',
    },
    ...{ GARNER_VISION_URL: 'ftp://x', GARNER_BILLING_UNKNOWN: 'maybe', GARNER_AI_DAILY_LIMIT: '-1' },
    ...{ GARNER_PHOTO_MAX_PX: '1', GARNER_FETCH_ALLOW: 'a b', GARNER_WAT: '1' },
  })
  for (const name of [
    ...[
      'PORT=x',
      'GARNER_DEMO=yes',
      'GARNER_LEASE_S=0.5',
      'GARNER_RETRY_BASE_S=-1',
      'GARNER_MAX_PENDING=1.5',
    ],
    ...[
      'GARNER_MAX_PENDING_TOTAL=0',
      'GARNER_FETCH_DEADLINE_S=NaN',
      'GARNER_READ_WAIT_MS=-1',
      'GARNER_DATABASE_URL=',
    ],
    ...['GARNER_CACHE_URL=', 'GARNER_BLOBS=/x', 'GARNER_DELIVERY=pigeon', 'GARNER_VISION_URL=ftp://x'],
    ...[
      'GARNER_BILLING_UNKNOWN=maybe',
      'GARNER_AI_DAILY_LIMIT=-1',
      'GARNER_PHOTO_MAX_PX=1',
      'GARNER_FETCH_ALLOW=a b',
    ],
    ...['GARNER_WAT is not a setting', "'--wat'"],
  ]) {
    expect(found.filter((one) => one.includes(name))).toHaveLength(1)
  }
  expect(
    found.filter((one) => !one.includes('--wat')).every((one) => /expected|is not a setting/.test(one)),
  ).toBe(true)
})

test.each([
  [['dance'], /dance is not a role; expected one of all, serve/],
  [['serve', 'extra'], /unexpected argument extra/],
  [['backup'], /backup needs one FILE/],
  [['restore', 'a', 'b'], /restore needs one FILE/],
  [['--port', '1.5'], /--port 1.5: expected a whole number/],
  [['--advance', '5', '--demo'], /--advance goes with step/],
  [['step', '--advance', 'soon', '--demo'], /--advance soon: expected seconds/],
])('the arguments %j are refused', (argv, expected) => {
  expect(problems(argv)).toEqual([expect.stringMatching(expected)])
})

test('roles and their files', () => {
  expect(read(['backup', 'x.db'])).toMatchObject({ role: 'backup', file: 'x.db' })
  expect(read(['all', 'serve']).role).toBe('serve')
  expect(read(['step', '--demo', '--advance', '90'], { GARNER_CLOCK_ADVANCE_S: '10' }).advanceMs).toBe(
    100_000,
  )
})

describe('secrets', () => {
  test('are neither shown nor told when they are wrong', () => {
    const env = { GARNER_VISION_KEY: 'sk-secret', GARNER_CACHE_URL: 'redis://:hush@host' }
    const { settings } = read([], env)
    expect(JSON.stringify(settings)).not.toMatch(/sk-secret|hush/)
    expect(settings.find((one) => one.name === 'GARNER_VISION_KEY')).toMatchObject({
      value: '(hidden)',
      isDefault: false,
    })
    const told = problems([], {
      ...{ GARNER_CACHE_URL: 'http://:hush@host', GARNER_DATABASE_URL: 'mysql://garner:hush@host/db' },
      ...{ GARNER_VISION_URL: 'ftp://me:hush@host' },
    })
    expect(told).toHaveLength(3)
    expect(told.join()).not.toContain('hush')
  })
})

describe('PostgreSQL', () => {
  const url = 'postgresql://garner:hush@db.example:6432/garner?sslmode=require'

  test('by either name, with a replica; its password stays out of sight', () => {
    const config = read([], { GARNER_DATABASE_URL: url, GARNER_READ_DATABASE_URL: 'postgres://x/y' })
    expect(config).toMatchObject({ database: { dialect: 'postgres', url }, replicaUrl: 'postgres://x/y' })
    expect(config.databaseName).toBe('postgresql://(hidden)@db.example:6432/garner?sslmode=require')
    expect(JSON.stringify(config.settings)).not.toContain('hush')
    expect(read([], { GARNER_DATABASE_URL: 'postgres:///garner' }).database.dialect).toBe('postgres')
  })

  test.each([
    [{ GARNER_DATABASE_URL: 'postgres://' }, /^GARNER_DATABASE_URL=.*expected sqlite:PATH or postgres:/],
    [{ GARNER_READ_DATABASE_URL: 'postgres://x/y' }, /has to be its primary$/],
    [
      { GARNER_READ_DATABASE_URL: 'postgres://x/y', GARNER_DATABASE_URL: 'sqlite:/x' },
      /has to be its primary$/,
    ],
    [
      { GARNER_READ_DATABASE_URL: 'sqlite:/x', GARNER_DATABASE_URL: url },
      /^GARNER_READ_DATABASE_URL=\(hidden\)/,
    ],
  ])('%j is refused', (env, expected) => {
    expect(problems([], env)).toEqual([expect.stringMatching(expected)])
  })
})

describe('demo mode', () => {
  test('by switch or by setting', () => {
    expect([read(['--demo']).isDemo, read([], { GARNER_DEMO: '1' }).isDemo]).toEqual([true, true])
  })

  test.each([
    ['another address', ['--demo', '--host', '0.0.0.0'], {}],
    ['production', ['--demo'], { NODE_ENV: 'production' }],
    ['a real vision key', ['--demo'], { GARNER_VISION_KEY: 'k' }],
  ])('is refused beside %s', (_name, argv, env) => {
    expect(problems(argv, env)).toEqual([expect.stringContaining('--demo')])
  })

  test.each([
    ['GARNER_FAULT', [], { GARNER_FAULT: 'publish.before-commit:kill' }],
    ['GARNER_CLOCK_ADVANCE_S', [], { GARNER_CLOCK_ADVANCE_S: '5' }],
    ['--advance', ['step', '--advance', '5'], {}],
  ])('%s is for it alone', (name, argv, env) => {
    expect(problems(argv, env)).toEqual([expect.stringMatching(new RegExp(`^${name} is for demo mode only`))])
    expect(problems(['--demo', ...argv], env)).toEqual([])
  })
})

test.each([
  ['127.0.0.1', true],
  ['127.9.9.9', true],
  ['::1', true],
  ['localhost', true],
  ['0.0.0.0', false],
  ['::', false],
  ['10.0.0.1', false],
  ['127.0.0.1.evil.example', false],
  ['', false],
])('%j is loopback: %s', (host, expected) => expect(isLoopback(host)).toBe(expected))
