import { nowMs, sleep } from './clock.ts'
import type { Load, Produced } from './messages.ts'
import { type Payload, type Producer, payload } from './peer.ts'

/** Offers the load and answers how many jobs were accepted in how long. What warms it up is not counted. */
export async function offer(producer: Producer, load: Load): Promise<Produced> {
  if (load.load === 'awaited') return awaited(producer, 1, load.ms)
  if (load.load === 'callers') return awaited(producer, load.callers, load.ms)
  if (load.load === 'batches') return batches(producer, load)
  return paced(producer, load)
}

/** Each caller awaits its call and calls again. */
async function awaited(producer: Producer, callers: number, ms: number): Promise<Produced> {
  const each = (work: () => Promise<void>) => Promise.all(Array.from({ length: callers }, work))
  // 200 calls, or ten of each caller: connections are open and the code is compiled.
  await each(async () => {
    for (let i = 0; i < Math.max(10, 200 / callers); i++) await producer.add(payload(i))
  })
  const startedMs = nowMs()
  let jobs = 0
  await each(async () => {
    while (nowMs() - startedMs < ms) await producer.add(payload(jobs++))
  })
  return { type: 'produced', jobs, ms: nowMs() - startedMs }
}

async function batches(producer: Producer, load: Load & { load: 'batches' }): Promise<Produced> {
  // 10,000 jobs, or 2 s: a producer that lives for days has compiled code.
  const warmUntilMs = nowMs() + (load.isWarmed ? 2_000 : 0)
  for (let warmed = 0; warmed < 10_000 && nowMs() < warmUntilMs; warmed += load.perCall) {
    await producer.addMany(numbered(0, load.perCall))
  }
  const startedMs = nowMs()
  let jobs = 0
  while (jobs < load.jobs && nowMs() - startedMs < load.maxMs) {
    const size = Math.min(load.perCall, load.jobs - jobs)
    await producer.addMany(numbered(jobs, size))
    jobs += size
  }
  return { type: 'produced', jobs, ms: nowMs() - startedMs }
}

/** One job at each tick, whether or not the last one has been accepted: a slow store must not slow the arrivals. */
async function paced(producer: Producer, { jobs, everyMs }: Load & { load: 'paced' }): Promise<Produced> {
  for (let i = 0; i < 20; i++) {
    await producer.add(payload(i))
    await sleep(everyMs)
  }
  await sleep(300)
  const startedMs = nowMs()
  const accepted: Promise<unknown>[] = []
  for (let i = 0; i < jobs; i++) {
    const waitMs = startedMs + i * everyMs - nowMs()
    if (waitMs > 0) await sleep(waitMs)
    accepted.push(producer.add({ ...payload(i), sentMs: nowMs() }))
  }
  await Promise.all(accepted)
  return { type: 'produced', jobs, ms: nowMs() - startedMs }
}

function numbered(from: number, size: number): Payload[] {
  return Array.from({ length: size }, (_, i) => payload(from + i))
}
