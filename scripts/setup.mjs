/**
 * What a command needs before it runs: `node scripts/setup.mjs start|test|dev|check`.
 *
 * npm runs it in front of `npm start`, `npm test` and the others, with whatever Node the machine has (18 or newer),
 * before anything is installed. So it is plain JavaScript and imports nothing but Node. When everything is in place it
 * ends within a few milliseconds and says nothing.
 *
 * Cut off anywhere, it leaves the old state or a state that the next command recognises and does again: see
 * setup/install.mjs, setup/web.mjs and setup/lock.mjs.
 */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stopChildren } from './setup/child.mjs'
import { explainFileFailure, SetupFailure } from './setup/failure.mjs'
import { install, isInstalled } from './setup/install.mjs'
import { takeLock } from './setup/lock.mjs'
import { buildWeb, isBuilt } from './setup/web.mjs'

/** The commands that hand out the built client themselves; the tests build it when they get to it. */
const needsBuiltClient = new Set(['start'])

const say = (/** @type {string} */ sentence) => console.log(`Garner: ${sentence}`)

/** @param {{ root: string, purpose: string }} what */
async function setUp({ root, purpose }) {
  const isReady = () => isInstalled(root) && (!needsBuiltClient.has(purpose) || isBuilt(root))
  if (isReady()) return

  const { working, release } = await takeLock(join(root, '.setup', 'lock'), say)
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
    process.once(signal, () => {
      stopChildren()
      release()
      process.exit(1)
    })
  }
  try {
    if (!isInstalled(root)) await install(root, { say, working })
    if (!isReady()) await buildWeb(root, { say, working })
  } finally {
    release()
  }
}

const [purpose = 'start', rootArgument] = process.argv.slice(2)
// Another folder than this checkout is for the set-up's own tests.
const root = rootArgument ?? fileURLToPath(new URL('..', import.meta.url))
const startedAtMs = Date.now()

if (Number.parseInt(process.versions.node, 10) < 18) {
  console.error(
    `Garner: Node ${process.versions.node} is too old to set Garner up; it needs Node 18 or newer.`,
  )
  process.exit(1)
}

try {
  await setUp({ root, purpose })
  const tookS = (Date.now() - startedAtMs) / 1000
  if (tookS > 2) say(`Ready after ${tookS.toFixed(0)} s. Next time this step is skipped.`)
} catch (error) {
  const failure = explainFileFailure(error, root)
  if (!(failure instanceof SetupFailure)) throw failure
  console.error(`Garner: the set-up stopped. ${failure.message}`)
  process.exitCode = 1
}
