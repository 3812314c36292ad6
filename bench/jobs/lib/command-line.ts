import { parseArgs } from 'node:util'

/** What to measure: names of peers or limits with their configurations, and how. */
export interface Command {
  /** In the order given. `configs` is empty for those that a group or the peer itself chooses. */
  who: { name: string; configs: string[] }[]
  cases: string[]
  rounds: number
  ms: number
  jobs: number
  backlog: number
  noiseCores: number
  quietMs: number
  out: string | undefined
}

/** A group is one session: its members take turns. Redis is apart, since its best durability is a choice of its own. */
export const GROUPS: Record<string, string[]> = {
  sqlite: [
    'garner-sqlite:best',
    'garner-sqlite:no-operation-ids',
    'plainjob:best',
    'plainjob:full',
    'liteque:best',
    'liteque:full',
    'raw-sqlite:full',
    'raw-sqlite:better-sqlite3',
  ],
  postgres: [
    'garner-postgres:best',
    'garner-postgres:no-operation-ids',
    'graphile-worker:best',
    'pg-boss:best',
    'pg-boss-fetch:best',
    'bullmq-pg:best',
    'raw-postgres:best',
  ],
  redis: ['bullmq:best', 'bullmq:synced'],
  limits: ['disk', 'raw-sqlite', 'raw-postgres'],
}

/** Errors: RangeError for a number that is none; TypeError for an unknown option. */
export function parseCommand(args: string[]): Command {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      case: { type: 'string', default: '' },
      config: { type: 'string', default: '' },
      runs: { type: 'string', default: '5' },
      ms: { type: 'string', default: '2500' },
      jobs: { type: 'string', default: '20000' },
      backlog: { type: 'string', default: '1000000' },
      noise: { type: 'string', default: '0.15' },
      quiet: { type: 'string', default: '8000' },
      out: { type: 'string' },
    },
  })
  const only = list(values.config)
  return {
    who: merged(positionals.flatMap((name) => GROUPS[name] ?? [name])).map(({ name, configs }) => ({
      name,
      configs: only.length > 0 ? only : configs,
    })),
    cases: list(values.case),
    rounds: number('runs', values.runs),
    ms: number('ms', values.ms),
    jobs: number('jobs', values.jobs),
    backlog: number('backlog', values.backlog),
    noiseCores: values.noise === 'off' ? Number.POSITIVE_INFINITY : number('noise', values.noise),
    quietMs: number('quiet', values.quiet),
    out: values.out,
  }
}

/** `plainjob:best plainjob:full` is plainjob with two configurations. */
function merged(names: string[]): { name: string; configs: string[] }[] {
  const all = new Map<string, string[]>()
  for (const one of names) {
    const [name = '', config] = one.split(':')
    all.set(name, [...(all.get(name) ?? []), ...(config ? [config] : [])])
  }
  return [...all].map(([name, configs]) => ({ name, configs }))
}

function list(text: string): string[] {
  return text.split(',').filter((one) => one !== '')
}

function number(name: string, text: string): number {
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value) || value < 0)
    throw new RangeError(`--${name}=${text}: expected a number of at least 0.`)
  return value
}
