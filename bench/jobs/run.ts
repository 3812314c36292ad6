import { appendFileSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Case, Contender } from './cases/case.ts'
import { CASES, LIMITS_CASE } from './cases/index.ts'
import { runFencing } from './fencing/run.ts'
import { type Command, GROUPS, parseCommand } from './lib/command-line.ts'
import { ensurePackages } from './lib/packages.ts'
import { resultLine } from './lib/result.ts'
import { Session, type Yardstick } from './lib/session.ts'
import { withWorkplace } from './lib/workplace.ts'
import { findLimits, findPeer, LIMITS_NAMES, PEER_NAMES } from './peers/index.ts'
import { printTables } from './table/print.ts'

/**
 * `npm run bench:jobs -- PEER…` measures job queues side by side, `-- table` makes tables of the results, `-- fencing`
 * shows what a stalled worker's late result does. README.md beside this file has the cases and the options.
 */
const RESULTS = fileURLToPath(new URL('results/', import.meta.url))

const [verb = '--help', ...rest] = process.argv.slice(2)
try {
  if (verb === 'table') printTables(RESULTS, rest)
  else if (verb === 'fencing') await runFencing(rest, say)
  else if (verb === '--help') console.log(usage())
  else await measure(parseCommand([verb, ...rest]))
  process.exit(0)
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exit(1)
}

async function measure(command: Command): Promise<void> {
  const contenders: Contender[] = []
  const yardsticks: Yardstick[] = []
  for (const { name, configs } of command.who) {
    if (LIMITS_NAMES.includes(name)) {
      const limits = await findLimits(name)
      for (const config of chosen(name, configs, Object.keys(limits.configs)))
        yardsticks.push({ limits, config })
    } else {
      const peer = await findPeer(name)
      for (const config of chosen(name, configs, Object.keys(peer.configs))) contenders.push({ peer, config })
    }
  }
  const cases = command.cases.length === 0 ? [...CASES.map(({ name }) => name), LIMITS_CASE] : command.cases
  const unknown = cases.filter((name) => name !== LIMITS_CASE && !CASES.some((one) => one.name === name))
  if (unknown.length > 0) throw new Error(`No such case: ${unknown.join(', ')}.\n${usage()}`)

  ensurePackages(say)
  const { rounds, noiseCores, quietMs, ms, jobs, backlog } = command
  const out = command.out ?? join(RESULTS, `${new Date().toISOString().slice(0, 10)}.jsonl`)
  mkdirSync(dirname(out), { recursive: true })
  const servers = new Set([
    ...contenders.map(({ peer }) => peer.server),
    ...yardsticks.map(({ limits }) => limits.server),
  ])
  await withWorkplace(servers, async () => {
    const session = new Session({
      ...{ settings: { ms, jobs, backlog }, rounds, noiseCores, quietMs, say },
      emit: (result) => appendFileSync(out, resultLine(result)),
    })
    for (const one of inOrder(cases)) {
      if (one === LIMITS_CASE) await session.runLimits(one, yardsticks)
      else await session.run(one, contenders, yardsticks)
    }
  })
  say(`results are in ${out}`)
}

/** The configurations asked for, of those that there are. `--config` may name one that only some peers have. */
function chosen(name: string, wanted: string[], there: string[]): string[] {
  const found = wanted.length === 0 ? there : there.filter((config) => wanted.includes(config))
  if (found.length === 0)
    throw new Error(`${name} has the configurations ${there.join(', ')}, not ${wanted.join(', ')}.`)
  return found
}

/** In the order in which the cases build on each other, the limits last. */
function inOrder(names: string[]): (Case | typeof LIMITS_CASE)[] {
  const cases = CASES.filter(({ name }) => names.includes(name))
  return names.includes(LIMITS_CASE) ? [...cases, LIMITS_CASE] : cases
}

function say(text: string): void {
  console.error(`# ${text}`)
}

function usage(): string {
  return [
    'npm run bench:jobs -- PEER[:CONFIG]… [--case=…] [--config=…] [--runs=5]',
    'npm run bench:jobs -- table [FILE…]',
    'npm run bench:jobs -- fencing [PEER…]',
    `peers: ${PEER_NAMES.join(' ')}`,
    `limits: ${LIMITS_NAMES.join(' ')}`,
    `groups: ${Object.keys(GROUPS).join(' ')}`,
    `cases: ${[...CASES.map(({ name }) => name), LIMITS_CASE].join(' ')}`,
  ].join('\n')
}
