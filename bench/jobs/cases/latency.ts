import { sleep } from '../lib/clock.ts'
import type { Load } from '../lib/messages.ts'
import { spawnChild } from '../lib/spawn.ts'
import { quantile } from '../lib/statistics.ts'
import { type Case, type Contender, type Round, sizesOf } from './case.ts'

/** 20 ms: slow enough that every library here is idle again before the next one comes. */
const EVERY_MS = 20
const JOBS = 500

function loadOf(contender: Contender): Load & { load: 'paced' } {
  return { load: 'paced', jobs: sizesOf(contender).latency ?? JOBS, everyMs: EVERY_MS }
}

function roundOf(latenciesMs: number[], jobs: number): Round {
  if (latenciesMs.length === 0) throw new Error('No job was started.')
  return {
    measured: [
      { measure: 'p50', unit: 'ms', value: quantile(latenciesMs, 0.5) },
      { measure: 'p99', unit: 'ms', value: quantile(latenciesMs, 0.99) },
    ],
    notes: { jobs, seen: latenciesMs.length },
  }
}

export const latency: Case = {
  name: 'latency',
  about:
    "A worker process is idle, another process submits one job every 20 ms: from just before the call to the handler's start.",
  async round(contender) {
    const { peer, config } = contender
    const load = loadOf(contender)
    await peer.reset(config)
    const worker = spawnChild({ role: 'worker', peer: peer.name, config, task: {} })
    let started = 0
    worker.onMessage((message) => {
      if (message.type === 'progress') started = message.count
    })
    try {
      await worker.answer('ready', 60_000)
      worker.say({ type: 'go' })
      await sleep(1500)
      const producer = spawnChild({ role: 'producer', peer: peer.name, config, load })
      const warmups = 20
      await producer.answer('produced', 120_000)
      // One that polls every two seconds for one job is still at it long after the last was submitted.
      for (let waitedMs = 0; started < load.jobs + warmups && waitedMs < 120_000; waitedMs += 20)
        await sleep(20)
      worker.say({ type: 'stop' })
      const { latenciesMs } = await worker.answer('worked', 30_000)
      await producer.end(7000)
      return roundOf(latenciesMs, load.jobs)
    } finally {
      await worker.end(12_000)
    }
  },
}

export const latencyInside: Case = {
  name: 'latency-inside',
  about: 'The same with producer and worker in one process.',
  async round(contender) {
    const { peer, config } = contender
    const load = loadOf(contender)
    await peer.reset(config)
    const child = spawnChild({ role: 'both', peer: peer.name, config, load })
    try {
      const { latenciesMs } = await child.answer('worked', 240_000)
      return roundOf(latenciesMs, load.jobs)
    } finally {
      await child.end(12_000)
    }
  },
}
