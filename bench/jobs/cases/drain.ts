import { nowMs, sleep } from '../lib/clock.ts'
import type { Peer } from '../lib/peer.ts'
import { spawnChild } from '../lib/spawn.ts'
import { type Case, type Contender, type Round, sizesOf } from './case.ts'
import { filled } from './fill.ts'
import { startedBy, startRate, warmOf } from './warm.ts'

/**
 * Lets `workers` processes take `jobs` jobs that are in the store already, the first `warm` of which are not counted.
 * Two rates: `ended`, from then until the store itself says that nothing is left, so every end is committed;
 * `started`, by the handlers' starts alone, which is what a window of a larger backlog can be compared with.
 */
export async function drained(
  { peer, config }: Contender,
  {
    workers,
    jobs,
    warm,
    maxMs,
    isWriting = false,
  }: { workers: number; jobs: number; warm: number; maxMs: number; isWriting?: boolean },
): Promise<Round> {
  const task = { role: 'worker' as const, peer: peer.name, config, task: { isWriting } }
  const children = Array.from({ length: workers }, () => spawnChild(task))
  const counts = new Array<number>(workers).fill(0)
  for (const [i, child] of children.entries()) {
    child.onMessage((message) => {
      if (message.type === 'progress') counts[i] = message.count
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
    const from = startedBy(worked, warm)
    return {
      measured: [
        {
          measure: 'ended',
          unit: 'jobs/s',
          value: (jobs - left - from.count) / ((endMs - from.atMs) / 1000),
        },
        { measure: 'started', unit: 'jobs/s', value: startRate(worked, warm) },
      ],
      notes: { jobs: jobs - warm, warm, left, started: sum(worked.map(({ count }) => count)) },
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
      const counted = Math.min(drain, settings.jobs)
      const warm = workers * warmOf(counted)
      const jobs = counted + warm
      await filled(contender, jobs)
      const round = await drained(contender, { workers, jobs, warm, maxMs, isWriting })
      if (!isWriting) return round
      const [rows, ended] = [await peer.written!(config), jobs - (round.notes.left ?? 0)]
      if (rows < ended) throw new Error(`${ended} jobs have ended, and only ${rows} have written their row.`)
      return round
    },
  }
}

export const drain = drainCase({
  name: 'drain',
  about: 'One worker process, warm, takes 20,000 jobs that do nothing.',
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
