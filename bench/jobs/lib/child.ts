import { findLimits, findPeer } from '../peers/index.ts'
import { nowMs, sleep } from './clock.ts'
import { offer } from './load.ts'
import type { FromChild, FromSession, Task } from './messages.ts'
import { peakBytes, Tally } from './tally.ts'

/**
 * One role of one measurement, in a process of its own: `node child.ts TASK`, TASK being JSON. Speaks over IPC
 * only. Ends when the session is gone, so nothing is left running.
 */
const task = JSON.parse(process.argv[2] ?? '') as Task

process.on('disconnect', () => process.exit(3))
process.on('unhandledRejection', (error) => fail(error))
try {
  if (task.role === 'producer') await produce(task)
  else if (task.role === 'worker') await work(task)
  else if (task.role === 'both') await both(task)
  else await limit(task)
  process.exit(0)
} catch (error) {
  await fail(error)
}

function say(message: FromChild): Promise<void> {
  return new Promise((resolve) => process.send!(message, () => resolve()))
}

async function fail(error: unknown): Promise<never> {
  await say({
    type: 'failed',
    error: error instanceof Error ? (error.stack ?? error.message) : String(error),
  })
  process.exit(4)
}

function told(type: FromSession['type']): Promise<void> {
  return new Promise((resolve) => {
    const listen = (message: FromSession) => {
      if (message.type !== type) return
      process.off('message', listen)
      resolve()
    }
    process.on('message', listen)
  })
}

async function produce({ peer, config, load }: Task & { role: 'producer' }): Promise<void> {
  const producer = await (await findPeer(peer)).producer(config)
  await say(await offer(producer, load))
  await atMost(5000, producer.close())
}

async function work({ peer, config, task: use }: Task & { role: 'worker' }): Promise<void> {
  const tally = new Tally()
  let stopNow = () => {}
  const isOver = new Promise<void>((resolve) => {
    stopNow = resolve
  })
  const handler = tally.handler(() => {
    const isEnough = tally.count >= (use.stopAfter ?? Number.POSITIVE_INFINITY)
    if (!isEnough) return
    worker.stopSoon()
    stopNow()
  })
  const worker = await (await findPeer(peer)).worker(config, handler, { isWriting: use.isWriting ?? false })
  const stopped = told('stop')
  const started = told('go')
  await say({ type: 'ready' })
  await started
  await worker.start()
  // 20 ms: the session looks at the store only when every job has been started, and needs to know it soon.
  const timer = setInterval(() => {
    void say({ type: 'progress', count: tally.count, firstMs: tally.firstMs })
    if (use.maxMs !== undefined && tally.count > 0 && nowMs() - tally.firstMs > use.maxMs) {
      worker.stopSoon()
      stopNow()
    }
  }, 20)
  await Promise.race([isOver, stopped])
  clearInterval(timer)
  await say(tally.worked())
  await atMost(8000, worker.stop())
  await say({ type: 'stopped', peakBytes: peakBytes() })
}

async function both({ peer: name, config, load }: Task & { role: 'both' }): Promise<void> {
  const peer = await findPeer(name)
  const tally = new Tally()
  const worker = await peer.worker(
    config,
    tally.handler(() => {}),
    { isWriting: false },
  )
  const producer = await peer.producer(config)
  await worker.start()
  await sleep(1500)
  await offer(producer, load)
  for (let waitedMs = 0; tally.timed < load.jobs && waitedMs < 60_000; waitedMs += 20) await sleep(20)
  await say(tally.worked())
  await atMost(8000, Promise.all([worker.stop(), producer.close()]))
}

async function limit({ peer, config, case: name, measure, ms }: Task & { role: 'limit' }): Promise<void> {
  const { limits } = await findLimits(peer)
  const found = limits.find((one) => one.case === name && one.measure === measure)
  if (!found) throw new Error(`${peer} has no limit ${name} ${measure}.`)
  await say({ type: 'limit', value: await found.run(config, ms) })
}

/** A library that does not come to an end must not hold up the session; what it says then is of no interest. */
async function atMost(ms: number, work: Promise<unknown>): Promise<void> {
  await Promise.race([work.catch(() => {}), sleep(ms)])
}
