import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'

/**
 * The only reader of the environment and the command line. Every value is checked here, and every bad one is
 * reported in one go, so that nobody fixes them one restart at a time.
 */
export const ROLES = [
  'all',
  'serve',
  'work',
  'step',
  'migrate',
  'backup',
  'restore',
  'check',
  'faults',
] as const
export type Role = (typeof ROLES)[number]

export interface Config {
  role: Role
  host: string
  port: number
  dataDir: string
  isDemo: boolean
  /** `backup FILE`, `restore FILE`. */
  file: string | null
  /** `step --advance S` and GARNER_CLOCK_ADVANCE_S together, in ms. */
  advanceMs: number
  database: DatabaseAddress
  /** The same for people: without a password. */
  databaseName: string
  /** A PostgreSQL server that follows the primary, for reads of lists; null for none. */
  replicaUrl: string | null
  fault: string
  leaseMs: number
  retryBaseMs: number
  fetchDeadlineMs: number
  fetchAllow: string
  maxPending: number
  maxPendingTotal: number
  /** Estimates of one person in a UTC day. */
  aiDailyLimit: number
  /** What is done when nobody knows whether a call was billed: no second call, or one. */
  billingUnknown: 'degrade' | 'retry'
  /** The provider of the vision model; null for none (the demo then answers by itself). */
  vision: { url: string; model: string; key: string } | null
  /** How long one call of the vision model may take. */
  visionTimeoutMs: number
  /** Photos of one person in any minute, per server. */
  uploadsPerMinute: number
  /** The longer side of a stored photo, in pixels. */
  photoMaxPx: number
  /** Where photos are kept. */
  photosDir: string
  /** A list reader's patience. */
  readWaitMs: number
  /** What the whole fleet may ask of the database for lists: in any second, and at once. */
  originReadsPerSecond: number
  originConcurrency: number
  /** Up to this age a copy of a list is served as it is; up to the next it is served marked as stale. */
  freshMs: number
  maxStaleMs: number
  /** How long a list read may rely on an access check; 0: never. */
  accessMaxAgeMs: number
  /** The shared cache; null for none. */
  cacheUrl: string | null
  /** All settings as `check` shows them: secrets hidden, and what has no effect yet said. */
  settings: Setting[]
}

export type DatabaseAddress = { dialect: 'sqlite'; path: string } | { dialect: 'postgres'; url: string }

export interface Setting {
  name: string
  value: string
  isDefault: boolean
  isUsed: boolean
}

/** What the operator has to put right; one line each. */
export class ConfigError extends Error {
  readonly code = 'CONFIG'
  readonly problems: string[]
  constructor(problems: string[]) {
    super(problems.join('\n'))
    this.name = 'ConfigError'
    this.problems = problems
  }
}

type Env = Record<string, string | undefined>

interface Spec {
  name: string
  fallback: string
  /** What is expected, or null when the value is fine. */
  check: (text: string) => string | null
  isSecret?: boolean
  /** False for settings of parts that this version does not have: they are checked, and change nothing. */
  isUsed?: boolean
}

const number = (min: number, max: number) => (text: string) => {
  const value = Number(text)
  return text.trim() !== '' && Number.isFinite(value) && value >= min && value <= max
    ? null
    : `${min}..${max}`
}
const whole = (min: number, max: number) => (text: string) =>
  number(min, max)(text) === null && Number.isInteger(Number(text)) ? null : `a whole number, ${min}..${max}`
const oneOf =
  (...words: string[]) =>
  (text: string) =>
    words.includes(text) ? null : words.join(' or ')
const like = (pattern: RegExp, expected: string) => (text: string) =>
  text === '' || pattern.test(text) ? null : expected

const DATABASE_FORMS = 'sqlite:PATH or postgres://USER:PASSWORD@HOST:PORT/DATABASE'
const isPostgres = (text: string) => /^postgres(ql)?:\/\/./.test(text) && URL.canParse(text)

const webAddress = (text: string) =>
  text === '' || (/^https?:\/\//.test(text) && URL.canParse(text)) ? null : 'an http(s) URL'
/** A key is sent in a header; a line end in it would come from a file that was pasted whole. */
const headerValue = (text: string) => (/^[\x21-\x7e]*$/.test(text) ? null : 'one word without blanks')

/** GARNER_LEASE_S from 1: a shorter lease is over before its first heartbeat on a busy machine. */
const SPECS: Spec[] = [
  { name: 'PORT', fallback: '8080', check: whole(0, 65535) },
  { name: 'GARNER_DATA', fallback: './data', check: (text) => (text === '' ? 'a folder' : null) },
  { name: 'GARNER_DEMO', fallback: '0', check: oneOf('0', '1') },
  {
    name: 'GARNER_DATABASE_URL',
    fallback: '',
    check: (text) => (text === '' || /^sqlite:.+/.test(text) || isPostgres(text) ? null : DATABASE_FORMS),
  },
  { name: 'GARNER_FETCH_ALLOW', fallback: '', check: () => null },
  { name: 'GARNER_FETCH_DEADLINE_S', fallback: '20', check: number(0.1, 600) },
  { name: 'GARNER_LEASE_S', fallback: '30', check: number(1, 600) },
  { name: 'GARNER_RETRY_BASE_S', fallback: '30', check: number(0, 86_400) },
  { name: 'GARNER_MAX_PENDING', fallback: '200', check: whole(1, 1e9) },
  { name: 'GARNER_MAX_PENDING_TOTAL', fallback: '100000', check: whole(1, 1e9) },
  { name: 'GARNER_VISION_URL', fallback: '', check: webAddress },
  { name: 'GARNER_VISION_MODEL', fallback: '', check: () => null },
  { name: 'GARNER_VISION_KEY', fallback: '', check: headerValue, isSecret: true },
  { name: 'GARNER_VISION_TIMEOUT_S', fallback: '30', check: number(0.1, 600) },
  { name: 'GARNER_AI_DAILY_LIMIT', fallback: '50', check: whole(0, 1e9) },
  { name: 'GARNER_BILLING_UNKNOWN', fallback: 'degrade', check: oneOf('degrade', 'retry') },
  { name: 'GARNER_UPLOADS_PER_MINUTE', fallback: '120', check: whole(1, 1e9) },
  { name: 'GARNER_PHOTO_MAX_PX', fallback: '1600', check: whole(64, 16_384) },
  {
    name: 'GARNER_BLOBS',
    fallback: '',
    check: like(/^file:.+/, 'file:DIR (s3:// is not supported by this version)'),
  },
  { name: 'GARNER_READ_WAIT_MS', fallback: '250', check: whole(0, 60_000) },
  { name: 'GARNER_ORIGIN_READS_PER_SECOND', fallback: '100', check: whole(1, 1e9) },
  { name: 'GARNER_ORIGIN_CONCURRENCY', fallback: '20', check: whole(1, 1e9) },
  { name: 'GARNER_FRESH_S', fallback: '2', check: number(0, 86_400) },
  { name: 'GARNER_MAX_STALE_S', fallback: '60', check: number(0, 86_400) },
  { name: 'GARNER_ACCESS_MAX_AGE_S', fallback: '5', check: number(0, 86_400) },
  {
    name: 'GARNER_CACHE_URL',
    fallback: '',
    check: like(/^rediss?:\/\//, 'redis://…'),
    isSecret: true,
  },
  { name: 'GARNER_FAULT', fallback: '', check: () => null },
  { name: 'GARNER_CLOCK_ADVANCE_S', fallback: '0', check: number(0, 1e9) },
  {
    name: 'GARNER_READ_DATABASE_URL',
    fallback: '',
    check: (text) => (text === '' || isPostgres(text) ? null : 'postgres://USER:PASSWORD@HOST:PORT/DATABASE'),
    isSecret: true,
  },
  // Parts that this version does not have yet.
  {
    name: 'GARNER_DELIVERY',
    fallback: 'auto',
    check: like(/^(auto|sqs:.+)$/, 'auto or sqs:URL'),
    isUsed: false,
  },
]

/**
 * Errors: ConfigError with a line for every bad value and argument.
 * @param checks further checks whose rules live elsewhere (the fault grammar, the allow list), by variable name.
 */
export function readConfig(
  argv: string[],
  env: Env,
  checks: Record<string, (text: string) => string | null>,
): Config {
  const problems: string[] = []
  const settings = SPECS.map((spec): Setting => {
    const given = env[spec.name]
    const isDefault = given === undefined || given === ''
    const value = isDefault ? spec.fallback : given
    const expected = spec.check(value) ?? checks[spec.name]?.(value) ?? null
    if (expected !== null)
      problems.push(
        `${spec.name}=${spec.isSecret ? '(hidden)' : withoutPassword(value)}: expected ${expected}`,
      )
    const shown = spec.isSecret && value !== '' ? '(hidden)' : withoutPassword(value)
    return { name: spec.name, value: shown, isDefault, isUsed: spec.isUsed ?? true }
  })
  for (const name of Object.keys(env)) {
    if (name.startsWith('GARNER_') && !SPECS.some((spec) => spec.name === name)) {
      problems.push(`${name} is not a setting of Garner; \`garner check\` lists them`)
    }
  }
  const get = (name: string) => env[name] || SPECS.find((spec) => spec.name === name)!.fallback
  const args = readArgs(argv, problems)
  const dataDir = resolve(args.data ?? get('GARNER_DATA'))
  const isDemo = args.demo || get('GARNER_DEMO') === '1'
  const host = args.host ?? '127.0.0.1'
  const advanceMs = (Number(get('GARNER_CLOCK_ADVANCE_S')) + args.advanceS) * 1000
  if (isDemo) {
    if (!isLoopback(host))
      problems.push(`--demo lets anyone be anyone, so it is refused on ${host}: only on loopback`)
    if (env['NODE_ENV'] === 'production') problems.push('--demo is refused with NODE_ENV=production')
    // A stand-in on this machine may want a key; a real one would be spent by whoever opens the page.
    if (env['GARNER_VISION_KEY'] && !isLocal(get('GARNER_VISION_URL')))
      problems.push('--demo is refused beside GARNER_VISION_KEY, unless GARNER_VISION_URL is on this machine')
  } else {
    for (const name of ['GARNER_FAULT', 'GARNER_CLOCK_ADVANCE_S']) {
      if (env[name]) problems.push(`${name} is for demo mode only (--demo or GARNER_DEMO=1)`)
    }
    if (args.advanceS !== 0) problems.push('--advance is for demo mode only (--demo or GARNER_DEMO=1)')
  }
  const databaseUrl = get('GARNER_DATABASE_URL')
  const replicaUrl = get('GARNER_READ_DATABASE_URL')
  if (replicaUrl !== '' && !isPostgres(databaseUrl)) {
    problems.push(
      'GARNER_READ_DATABASE_URL is for a replica of PostgreSQL: GARNER_DATABASE_URL has to be its primary',
    )
  }
  if (Number(get('GARNER_MAX_STALE_S')) < Number(get('GARNER_FRESH_S'))) {
    problems.push(
      `GARNER_MAX_STALE_S=${get('GARNER_MAX_STALE_S')}: expected at least GARNER_FRESH_S (${get('GARNER_FRESH_S')})`,
    )
  }
  if (problems.length > 0) throw new ConfigError(problems)
  const database = databaseAt(databaseUrl, dataDir)
  return {
    role: args.role,
    host,
    port: args.port ?? Number(get('PORT')),
    dataDir,
    isDemo,
    file: args.file,
    advanceMs,
    database,
    databaseName: database.dialect === 'sqlite' ? database.path : withoutPassword(database.url),
    replicaUrl: replicaUrl === '' ? null : replicaUrl,
    fault: get('GARNER_FAULT'),
    leaseMs: Number(get('GARNER_LEASE_S')) * 1000,
    retryBaseMs: Number(get('GARNER_RETRY_BASE_S')) * 1000,
    fetchDeadlineMs: Number(get('GARNER_FETCH_DEADLINE_S')) * 1000,
    fetchAllow: get('GARNER_FETCH_ALLOW'),
    maxPending: Number(get('GARNER_MAX_PENDING')),
    maxPendingTotal: Number(get('GARNER_MAX_PENDING_TOTAL')),
    aiDailyLimit: Number(get('GARNER_AI_DAILY_LIMIT')),
    billingUnknown: get('GARNER_BILLING_UNKNOWN') as Config['billingUnknown'],
    vision: visionAt(get),
    visionTimeoutMs: Number(get('GARNER_VISION_TIMEOUT_S')) * 1000,
    uploadsPerMinute: Number(get('GARNER_UPLOADS_PER_MINUTE')),
    photoMaxPx: Number(get('GARNER_PHOTO_MAX_PX')),
    photosDir: photosAt(get('GARNER_BLOBS'), dataDir),
    readWaitMs: Number(get('GARNER_READ_WAIT_MS')),
    originReadsPerSecond: Number(get('GARNER_ORIGIN_READS_PER_SECOND')),
    originConcurrency: Number(get('GARNER_ORIGIN_CONCURRENCY')),
    freshMs: Number(get('GARNER_FRESH_S')) * 1000,
    maxStaleMs: Number(get('GARNER_MAX_STALE_S')) * 1000,
    accessMaxAgeMs: Number(get('GARNER_ACCESS_MAX_AGE_S')) * 1000,
    cacheUrl: get('GARNER_CACHE_URL') || null,
    settings,
  }
}

function databaseAt(url: string, dataDir: string): DatabaseAddress {
  if (isPostgres(url)) return { dialect: 'postgres', url }
  const path = url === '' ? resolve(dataDir, 'garner.db') : url.slice('sqlite:'.length)
  return { dialect: 'sqlite', path }
}

function photosAt(url: string, dataDir: string): string {
  return url === '' ? resolve(dataDir, 'photos') : resolve(url.slice('file:'.length))
}

/** Local servers of one model take any name for it. */
function visionAt(get: (name: string) => string): Config['vision'] {
  const url = get('GARNER_VISION_URL')
  if (url === '') return null
  return { url, model: get('GARNER_VISION_MODEL') || 'default', key: get('GARNER_VISION_KEY') }
}

function isLocal(url: string): boolean {
  return URL.canParse(url) && isLoopback(new URL(url).hostname.replace(/^\[|\]$/g, ''))
}

/** An address may carry a password, also where none belongs: neither `check` nor a refusal repeats it. */
function withoutPassword(text: string): string {
  return text.replace(/:\/\/[^/]*@/, '://(hidden)@')
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}

interface Args {
  role: Role
  file: string | null
  port: number | undefined
  host: string | undefined
  data: string | undefined
  demo: boolean
  advanceS: number
}

function readArgs(argv: string[], problems: string[]): Args {
  const options = {
    port: { type: 'string' },
    host: { type: 'string' },
    data: { type: 'string' },
    demo: { type: 'boolean' },
    advance: { type: 'string' },
  } as const
  let values: { port?: string; host?: string; data?: string; demo?: boolean; advance?: string } = {}
  let words: string[] = []
  try {
    const parsed = parseArgs({ args: argv, options, allowPositionals: true })
    values = parsed.values
    words = parsed.positionals
  } catch (error) {
    problems.push((error as Error).message)
  }
  // `npm start` already says `all`; a role after it (`npm start -- serve`) is meant instead.
  if (words[0] === 'all' && words.length > 1) words = words.slice(1)
  const role = (words[0] ?? 'all') as Role
  if (!ROLES.includes(role)) problems.push(`${role} is not a role; expected one of ${ROLES.join(', ')}`)
  const needsFile = role === 'backup' || role === 'restore'
  if (needsFile && words.length !== 2) problems.push(`${role} needs one FILE`)
  if (!needsFile && words.length > 1) problems.push(`unexpected argument ${words[1]}`)
  if (values.port !== undefined && whole(0, 65535)(values.port) !== null) {
    problems.push(`--port ${values.port}: expected a whole number, 0..65535`)
  }
  if (values.advance !== undefined && (role !== 'step' || number(0, 1e9)(values.advance) !== null)) {
    problems.push(
      role === 'step'
        ? `--advance ${values.advance}: expected seconds, 0 or more`
        : '--advance goes with step',
    )
  }
  return {
    role,
    file: needsFile ? (words[1] ?? null) : null,
    port: values.port === undefined ? undefined : Number(values.port),
    host: values.host,
    data: values.data,
    demo: values.demo ?? false,
    advanceS: Number(values.advance ?? 0),
  }
}
