import { ManualClock } from '@garner/db'
import { describe, expect, test } from 'vitest'
import type { Order, Reply } from './answer.ts'
import type { RunnerEvents } from './runner.ts'
import { Runners } from './runners.ts'

/** A runner that does nothing until the test answers for it. */
class FakeRunner {
  readonly events: RunnerEvents
  readonly orders: Order[] = []
  isHeld = false
  isEnded = false

  constructor(events: RunnerEvents) {
    this.events = events
  }

  send(order: Order): void {
    this.orders.push(order)
  }

  hold(isHeld: boolean): void {
    this.isHeld = isHeld
  }

  /** As threads and processes do: its end is told, also when it was asked for. */
  async end(): Promise<void> {
    this.isEnded = true
    this.events.gone('ended')
  }

  answer(job: unknown, reply: Partial<Reply> & { replaceMe?: boolean } = {}): void {
    const { number } = this.orders.find((order) => order.job === job)!
    this.events.replied({ is: 'done', result: `${job} done`, replaceMe: false, ...reply, number } as Reply)
  }
}

function made({ jobsMax = 100, idleMs }: { jobsMax?: number; idleMs?: number } = {}) {
  const clock = new ManualClock()
  const opened: FakeRunner[] = []
  const open = (events: RunnerEvents) => {
    const runner = new FakeRunner(events)
    opened.push(runner)
    return runner
  }
  const parts = { clock, open, jobsMax, limitMs: 30_000, ...(idleMs !== undefined && { idleMs }) }
  return { clock, opened, runners: new Runners(parts) }
}

const outcome = (job: Promise<unknown>) =>
  job.catch((error: { code?: string; message: string }) => error.code ?? error.message)

/** Lets the clock's sleepers, which wake as promises, say what they have to. */
const settle = () => new Promise((resolve) => setImmediate(resolve))

describe('what reads pictures', () => {
  test('is opened with the first job, and answers each with its own result', async () => {
    const { runners, opened } = made()
    expect(opened).toHaveLength(0)
    const jobs = ['a', 'b'].map((job) => runners.run(job))
    opened[0]!.answer('b')
    opened[0]!.answer('a')
    expect(await Promise.all(jobs)).toEqual(['a done', 'b done'])
    expect(opened).toHaveLength(1)
  })

  test('keeps the program alive while it has work, and not otherwise', () => {
    const { runners, opened } = made()
    void runners.run('a')
    void runners.run('b')
    opened[0]!.answer('a')
    expect(opened[0]!.isHeld).toBe(true)
    opened[0]!.answer('b')
    expect(opened[0]!.isHeld).toBe(false)
  })

  test('a picture that hangs ends at the limit, and its runner with it; the next one gets a new runner', async () => {
    const { runners, opened, clock } = made()
    const hanging = outcome(runners.run('hangs'))
    clock.advance(29_999)
    await settle()
    expect(opened[0]!.isEnded).toBe(false)
    clock.advance(1)
    await settle()
    expect([await hanging, opened[0]!.isEnded]).toEqual(['too_slow', true])
    const next = runners.run('next')
    opened[1]!.answer('next')
    expect(await next).toBe('next done')
  })

  test('beside one that hangs nobody is blamed: the others are to be sent again', async () => {
    const { runners, opened, clock } = made()
    const hanging = outcome(runners.run('hangs'))
    clock.advance(10_000)
    const other = outcome(runners.run('other'))
    clock.advance(20_000)
    await settle()
    expect([await hanging, await other, opened[0]!.isEnded]).toEqual(['too_slow', 'busy', true])
  })

  test('a job that ended leaves no timer behind', async () => {
    const { runners, opened, clock } = made()
    const job = runners.run('a')
    opened[0]!.answer('a')
    await job
    clock.advance(60_000)
    await settle()
    expect([opened[0]!.isEnded, clock.nextWakeInMs]).toEqual([false, null])
  })

  test('a picture that was alone when its runner went down is at fault, and the next one gets a new runner', async () => {
    const { runners, opened } = made()
    const guilty = outcome(runners.run('guilty'))
    opened[0]!.events.gone({ signal: 'SIGSEGV' })
    expect(await guilty).toBe('undecodable')
    const next = runners.run('next')
    opened[1]!.answer('next')
    expect(await next).toBe('next done')
  })

  test('of several nobody knows: all are to be sent again', async () => {
    const { runners, opened } = made()
    const both = ['a', 'b'].map((job) => outcome(runners.run(job)))
    opened[0]!.events.gone({ exitCode: 134 })
    expect(await Promise.all(both)).toEqual(['busy', 'busy'])
  })

  test('is replaced after its last job, and when it asks for it, but not while it has work', async () => {
    const { runners, opened } = made({ jobsMax: 2 })
    const [a, b, c] = ['a', 'b', 'c'].map((job) => runners.run(job))
    expect(opened.map(({ orders }) => orders.length)).toEqual([2, 1])
    opened[0]!.answer('a')
    expect(opened[0]!.isEnded).toBe(false)
    opened[0]!.answer('b')
    expect(opened[0]!.isEnded).toBe(true)
    opened[1]!.answer('c', { replaceMe: true })
    expect(opened[1]!.isEnded).toBe(true)
    expect(await Promise.all([a, b, c])).toEqual(['a done', 'b done', 'c done'])
  })

  test('gives its memory back when nothing comes for a while, counted from the last answer', async () => {
    const { runners, opened, clock } = made({ idleMs: 60_000 })
    const once = async (job: string) => {
      const result = runners.run(job)
      opened.at(-1)!.answer(job)
      await result
    }
    await once('a')
    clock.advance(59_000)
    await once('b')
    clock.advance(59_999)
    await settle()
    expect(opened[0]!.isEnded).toBe(false)
    const long = runners.run('long')
    clock.advance(20_000)
    await settle()
    expect(opened[0]!.isEnded).toBe(false)
    opened[0]!.answer('long')
    await long
    clock.advance(60_000)
    await settle()
    expect(opened[0]!.isEnded).toBe(true)
    await once('c')
    expect(opened).toHaveLength(2)
    await runners.close()
    expect(clock.nextWakeInMs).toBeNull()
  })

  test('a refusal is a PictureError with its code; a fault is not blamed on the picture, and costs the runner', async () => {
    const { runners, opened } = made()
    const [refused, faulty] = [runners.run('a'), runners.run('b')]
    opened[0]!.answer('a', { is: 'refused', code: 'undecodable', detail: 'why' })
    opened[0]!.answer('b', { is: 'broken', detail: 'TypeError: x', replaceMe: true })
    await expect(refused).rejects.toMatchObject({ code: 'undecodable', status: 400, cause: 'why' })
    await expect(faulty).rejects.toThrow(/had a fault: TypeError/)
    expect(opened[0]!.isEnded).toBe(true)
  })

  test('closed, it is gone, and what it had is to be sent again', async () => {
    const { runners, opened } = made()
    const job = outcome(runners.run('a'))
    await runners.close()
    expect([await job, opened[0]!.isEnded]).toEqual(['busy', true])
    await expect(runners.run('b')).rejects.toThrow('closed')
  })
})
