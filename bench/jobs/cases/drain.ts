import { nowMs, sleep } from '../lib/clock.ts'
import type { Worked } from '../lib/messages.ts'
import type { Peer } from '../lib/peer.ts'
import { spawnChild } from '../lib/spawn.ts'
import { type Case, type Contender, type Round, sizesOf } from './case.ts'
import { filled } from './fill.ts'

/**
 * Lets `workers` processes take `jobs` jobs that are in the store already. Two rates: `ended`, from the first start
 * of a handler until the store itself says that nothing is left, so every end is committed; `started`, by the
 * handlers' starts alone, which is what a window of a larger backlog can be compared with.
 */
export async function drained(
  { peer, config }: Contender,
  {
    workers,
    jobs,
    maxMs,
    isWriting = false,
  }: { workers: number; jobs: number; maxMs: number; isWriting?: boolean },
): Promise<Round> {
  const task = { role: 'worker' as const, peer: peer.name, config, task: { isWriting } }
  const children = Array.from({ length: workers }, () => spawnChild(task))
  const counts = new Array<number>(workers).fill(0)
  const firsts = new Array<number>(workers).fill(0)
  for (const [i, child] of children.entries()) {
    child.onMessage((message) => {
      if (message.type !== 'progress') return
      counts[i] = message.count
      firsts[i] = message.firstMs
    })
  }
  const monitor = await peer.monitor(config)
  try {
    await Promise.all(children.map((child) => child.answer('ready', 60_000)))
    const askedMs = nowMs()
    for (const child of children) child.say({ type: 'go' })
    const { left, endMs } = await untilEmpty({
      jobs,
      untilMs: askedMs + maxMs,
      remaining: () => monitor.remaining(),
      started: () => sum(counts),
      failure: () => children.map((child) => child.failure()).find((failure) => failure !== undefined),
    })
    for (const child of children) child.say({ type: 'stop' })
    const worked = await Promise.all(children.map((child) => child.answer('worked', 60_000)))
    const firstMs = Math.min(...firsts.filter((ms) => ms > 0), ...firstsOf(worked))
    return {
      measured: [
        { measure: 'ended', unit: 'jobs/s', value: (jobs - left) / ((endMs - firstMs) / 1000) },
        { measure: 'started', unit: 'jobs/s', value: startRate(worked) },
      ],
      notes: { jobs, left, started: sum(worked.map(({ count }) => count)) },
    }
  } finally {
    await monitor.close()
    await Promise.all(children.map((child) => child.end(12_000)))
  }
}

/** Asks the store only when every job has been started: counting while it works would slow it down. */
async function untilEmpty(of: {
  jobs: number
  untilMs: number
  started: () => number
  remaining: () => Promise<number>
  failure: () => Error | undefined
}): Promise<{ left: number; endMs: number }> {
  for (;;) {
    const failure = of.failure()
    if (failure) throw failure
    const isLate = nowMs() > of.untilMs
    if (of.started() >= of.jobs || isLate) {
      const left = await of.remaining()
      if (left === 0 || isLate) return { left, endMs: nowMs() }
    }
    await sleep(2)
  }
}

/** Starts a second, over all workers, from the first start to the last one. */
export function startRate(worked: Worked[]): number {
  const withWork = worked.filter(({ count }) => count > 0)
  const firstMs = Math.min(...firstsOf(withWork))
  const lastMs = Math.max(...withWork.map((one) => one.lastMs))
  return (sum(withWork.map(({ count }) => count)) - 1) / ((lastMs - firstMs) / 1000)
}

function firstsOf(worked: Worked[]): number[] {
  return worked.map(({ firstMs }) => firstMs).filter((ms) => ms > 0)
}

function sum(values: number[]): number {
  return values.reduce((total, one) => total + one, 0)
}

function drainCase(of: Omit<Case, 'round'> & { workers: number; isWriting?: boolean }): Case {
  const { workers, isWriting = false, ...rest } = of
  return {
    ...rest,
    async round(contender, settings) {
      const { peer, config } = contender
      const { drain = settings.jobs, drainMaxMs: maxMs = 60_000 } = sizesOf(contender)
      const jobs = Math.min(drain, settings.jobs)
      await filled(contender, jobs)
      const round = await drained(contender, { workers, jobs, maxMs, isWriting })
      if (!isWriting) return round
      const [rows, ended] = [await peer.written!(config), jobs - (round.notes.left ?? 0)]
      if (rows < ended) throw new Error(`${ended} jobs have ended, and only ${rows} have written their row.`)
      return round
    },
  }
}

export const drain = drainCase({
  name: 'drain',
  about: 'One worker process takes 20,000 jobs that do nothing.',
  workers: 1,
})

export const drainTwo = drainCase({
  name: 'drain-two',
  about: 'The same with two worker processes.',
  workers: 2,
})

export const drainWrite = drainCase({
  name: 'drain-write',
  about:
    "The same with one, and each job's end also writes a row of the handler's own, in the same transaction.",
  suits: (peer: Peer) => peer.written !== undefined,
  workers: 1,
  isWriting: true,
})
