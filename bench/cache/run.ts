import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { RedisServer, redisProgram } from '../../packages/cache/testing/redis-server.ts'
import { type Measure, machine, median, show } from '../lib/measure.ts'
import { CASES } from './lib/cases.ts'
import { ensurePackages, versionOf } from './lib/packages.ts'
import { PEERS } from './peers/index.ts'

/**
 * `npm run bench:cache -- [PEER…] [--case NAME]… [--rounds 5] [--ms 1500]`: what a hit costs, Garner's cache beside its
 * peers. All peers take their turns in each round, so that what else the machine does reaches all of them.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    case: { type: 'string', multiple: true },
    rounds: { type: 'string', default: '5' },
    ms: { type: 'string', default: '1500' },
  },
})
const peers = positionals.length > 0 ? positionals : Object.keys(PEERS)
const cases = values.case ?? Object.keys(CASES)
const unknown = [...peers.filter((one) => !PEERS[one]), ...cases.filter((one) => !CASES[one])]
if (unknown.length > 0) {
  console.error(`Not known: ${unknown.join(', ')}.`)
  console.error(`peers: ${Object.keys(PEERS).join(' ')}\ncases: ${Object.keys(CASES).join(' ')}`)
  process.exit(2)
}

ensurePackages()
const redis =
  cases.some((one) => CASES[one]!.tier === 'shared') && redisProgram ? await RedisServer.start() : null
const results: object[] = []
try {
  for (const name of cases) await compare(name)
} finally {
  await redis?.close()
}
const folder = fileURLToPath(new URL('results/', import.meta.url))
mkdirSync(folder, { recursive: true })
const day = new Date().toISOString().slice(0, 10)
const versions = Object.fromEntries(
  peers.map((one) => [one, versionOf(PEERS[one]!.package ?? '') ?? 'this checkout']),
)
writeFileSync(
  `${folder}${day}.json`,
  `${JSON.stringify({ day, machine: machine(), versions, results }, null, 2)}\n`,
)

async function compare(name: string): Promise<void> {
  const { about, tier } = CASES[name]!
  console.log(`\n## ${name}\n\n${about}\n`)
  if (tier === 'shared' && !redis) {
    console.log('Not measured: there is neither valkey-server nor redis-server on this machine.')
    return
  }
  const measures: Measure[] = peers.map((what) => ({ what, unit: '/s', values: [] }))
  const load = loadavg()[0]!
  for (let round = 0; round < Number(values.rounds); round++)
    for (const measure of measures) measure.values.push(measured(measure.what, name))
  console.log('| peer | median | spread | stale copies |\n|---|---|---|---|')
  for (const { what, values: all } of measures) {
    const spread = `${show(Math.min(...all))} to ${show(Math.max(...all))}`
    console.log(`| ${what} | ${show(median(all))} /s | ${spread} | ${PEERS[what]!.hasStale ? 'yes' : 'no'} |`)
  }
  const ours = measures.find(({ what }) => what === 'garner')
  // A bare LRU looks after nothing else: it is shown, and is no peer to be matched.
  const others = measures.filter(
    ({ what }) => what !== 'garner' && what !== 'lru-cache' && PEERS[what]!.hasStale,
  )
  const fastest = others.sort((a, b) => median(b.values) - median(a.values))[0]
  if (ours && fastest)
    console.log(
      `\ngarner ÷ ${fastest.what}, the fastest that serves stale copies, too: ${(median(ours.values) / median(fastest.values)).toFixed(2)} (target: at least 1)`,
    )
  results.push({ case: name, about, load, measures })
}

function measured(peer: string, name: string): number {
  const child = fileURLToPath(new URL('lib/child.ts', import.meta.url))
  const args = [child, peer, name, redis?.url ?? '', values.ms, '700']
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: 120_000 })
  const perSecond = Number(stdout.trim().split('\n').at(-1))
  if (status !== 0 || !(perSecond > 0))
    throw new Error(`${peer}, ${name}: ${stderr || stdout || 'it did not end'}`)
  return perSecond
}
