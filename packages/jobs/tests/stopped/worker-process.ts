import { setTimeout as pause } from 'node:timers/promises'
import { systemClock, type Transaction } from '@garner/db'
import { type JobStore, Worker } from '../../src/index.ts'
import type { AttemptEnd } from '../../src/run-attempt.ts'
import { LEASE_MS, openStore } from './store.ts'

/**
 * A worker in a process of its own that its parent stops and continues as a whole (SIGSTOP, SIGCONT). Says `claimed`
 * when a handler begins, and each attempt's end. Arguments: the database's address, the worker's name.
 */
export type Said = { claimed: string } | { end: AttemptEnd } | { refused: string } | { isReady: true }

const [address, name] = process.argv.slice(2) as [string, string]
const say = (what: Said) => process.send!(what)
const clock = systemClock()
const { db, store: opened } = await openStore(address)

/** Says each word that the store refuses: these are what it must have counted. */
const store: JobStore<Transaction> = {
  ...opened,
  publish: async (...call) => told('publish', await opened.publish(...call)),
  recordStep: async (...call) => told('recordStep', await opened.recordStep(...call)),
  openStep: async (...call) => {
    const standing = await opened.openStep(...call)
    told('openStep', standing.state)
    return standing
  },
}

function told<T extends string>(method: string, answer: T): T {
  if (answer === 'stale-epoch' || answer === 'lost') say({ refused: method })
  return answer
}

const worker = new Worker({
  store,
  read: db.read,
  clock,
  random: Math.random,
  name,
  slots: 1,
  leaseMs: LEASE_MS,
  pollMs: 50,
  kinds: [
    {
      kind: 'note',
      policy: { attemptsMax: 1_000, deadlineMs: 3_600_000, baseMs: 1, maxMs: 10 },
      attemptMs: 60_000,
      async handle(attempt) {
        say({ claimed: attempt.job.id })
        await attempt.once('part', async () => {
          await pause(10)
          return attempt.job.epoch
        })
        await pause(10)
        await attempt.progress({ done: 1 })
        await pause(10)
        return {
          result: name,
          write: async (tx) => {
            await tx.run('INSERT INTO notes VALUES (?, ?, ?)', attempt.job.id, attempt.job.epoch, name)
            return undefined
          },
        }
      },
    },
  ],
  onFault: (claim, error) => {
    throw new Error(`A fault in job ${claim?.job.id}`, { cause: error })
  },
  onEnd: (_claim, end) => say({ end }),
})
say({ isReady: true })
await worker.run(new AbortController().signal)
