import { ManualClock } from '@garner/db'
import { describe, expect, test } from 'vitest'
import { describeJobStore } from '../../testing/job-store.suite.ts'
import { createMemoryStore, type MemoryTransaction } from './store.ts'

describeJobStore<MemoryTransaction>({
  name: 'memory',
  async open({ bounds, retryAfterMs }) {
    const clock = new ManualClock()
    const rows: string[] = []
    return {
      store: createMemoryStore({ clock, bounds, retryAfterMs }),
      clock,
      caller: {
        async write(tx, text) {
          rows.push(text)
          tx.undo(() => rows.pop())
        },
        rows: async () => [...rows],
      },
      close: async () => {},
    }
  },
})

describe('a transaction in memory', () => {
  const open = () => createMemoryStore({ clock: new ManualClock(), bounds: { perTenant: 1, total: 1 } })

  test('tells its hooks after it has committed, and not when it is undone', async () => {
    const store = open()
    const told: string[] = []
    await store.transaction(async (tx) => tx.afterCommit(() => told.push('kept')))
    await store
      .transaction(async (tx) => {
        tx.afterCommit(() => told.push('undone'))
        throw new Error('trouble')
      })
      .catch(() => {})
    expect(told).toEqual(['kept'])
  })

  test('has committed, whatever its hooks do', async () => {
    const store = open()
    const warned = new Promise<Error>((resolve) => process.once('warning', resolve))
    const answer = await store.transaction(async (tx) => {
      tx.afterCommit(() => {
        throw new Error('a hook that fails')
      })
      return 'done'
    })
    expect(answer).toBe('done')
    expect((await warned).message).toBe('a hook that fails')
  })

  test('is closed once it has ended', async () => {
    const store = open()
    let leaked: MemoryTransaction | undefined
    await store.transaction(async (tx) => {
      leaked = tx
    })
    expect(() => leaked!.undo(() => {})).toThrow('it has ended')
    const late = store.submit(leaked!, {
      id: 'job-1',
      kind: 'title',
      tenant: 'alice',
      payload: null,
      deadlineMs: 1_000,
    })
    await expect(late).rejects.toMatchObject({ code: 'TRANSACTION_CLOSED' })
    expect(await store.get('job-1')).toBeUndefined()
  })

  test('takes its caller’s writes back in the opposite order', async () => {
    const store = open()
    const undone: number[] = []
    const attempt = store.transaction(async (tx) => {
      tx.undo(() => undone.push(1))
      tx.undo(() => undone.push(2))
      throw new Error('trouble')
    })
    await expect(attempt).rejects.toThrow('trouble')
    expect(undone).toEqual([2, 1])
  })
})

describe('a part of a transaction in memory', () => {
  const opened = () => {
    const store = createMemoryStore({ clock: new ManualClock(), bounds: { perTenant: 1, total: 1 } })
    const rows: string[] = []
    const write = (tx: MemoryTransaction, row: string) => {
      rows.push(row)
      tx.undo(() => rows.pop())
    }
    return { store, rows, write }
  }

  test('takes back what it has written when it throws, and nothing else', async () => {
    const { store, rows, write } = opened()
    await store.transaction(async (tx) => {
      write(tx, 'before')
      const part = () => {
        write(tx, 'in it')
        write(tx, 'in it too')
        throw new Error('trouble')
      }
      expect(() => tx.allOrNothing(part)).toThrow('trouble')
      expect(rows).toEqual(['before'])
      write(tx, 'after')
    })
    expect(rows).toEqual(['before', 'after'])
  })

  test('is taken back with the whole', async () => {
    const { store, rows, write } = opened()
    const attempt = store.transaction(async (tx) => {
      expect(tx.allOrNothing(() => write(tx, 'in it'))).toBeUndefined()
      throw new Error('trouble')
    })
    await expect(attempt).rejects.toThrow('trouble')
    expect(rows).toEqual([])
  })
})

describe('listening in memory', () => {
  const REST_MS = 60_000
  const JOB = { kind: 'title', tenant: 'alice', payload: null, deadlineMs: 1_000 }

  async function opened() {
    const clock = new ManualClock()
    const store = createMemoryStore({ clock, bounds: { perTenant: 9, total: 9 } })
    const wakes = { count: 0 }
    const listening = await store.listen(() => wakes.count++)
    return { store, clock, wakes, listening }
  }

  test('wakes a worker at rest once the work is there, and not when it is taken back', async () => {
    const { store, wakes, listening } = await opened()
    await listening.resting(REST_MS)
    await store.transaction(async (tx) => {
      await store.submit(tx, { id: 'job-1', ...JOB })
      expect(wakes.count).toBe(0)
    })
    expect(wakes.count).toBe(1)
    const undone = store.transaction(async (tx) => {
      await store.submit(tx, { id: 'job-2', ...JOB })
      throw new Error('trouble')
    })
    await expect(undone).rejects.toThrow('trouble')
    expect(wakes.count).toBe(1)
    await store.accept([{ id: 'job-3', ...JOB }])
    expect(wakes.count).toBe(2)
  })

  test('wakes nobody who is busy, has rested long enough, or is gone', async () => {
    const { store, clock, wakes, listening } = await opened()
    await store.accept([{ id: 'job-1', ...JOB }])
    await listening.resting(REST_MS)
    await listening.busy()
    await store.accept([{ id: 'job-2', ...JOB }])
    await listening.resting(REST_MS)
    clock.advance(REST_MS)
    await store.accept([{ id: 'job-3', ...JOB }])
    await listening.resting(REST_MS)
    await listening.close()
    await store.accept([{ id: 'job-4', ...JOB }])
    expect(wakes.count).toBe(0)
  })

  test('wakes for whatever makes room or brings work back', async () => {
    const { store, wakes, listening } = await opened()
    const claims = async () => {
      await store.accept([1, 2, 3].map((n) => ({ id: `job-${n}`, subject: `subject-${n}`, ...JOB })))
      return store.claim({ worker: 'worker-1', limit: 9, leaseMs: 1_000, kinds: [{ kind: 'title' }] })
    }
    const [first, second] = await claims()
    await listening.resting(REST_MS)
    const woken = async (work: () => Promise<unknown>) => {
      const before = wakes.count
      await work()
      return wakes.count > before
    }
    expect(await woken(() => store.publish(first!, { state: 'dead', reason: 'x' }))).toBe(true)
    expect(await woken(() => store.transaction((tx) => store.repair(tx, 'job-1')))).toBe(true)
    expect(await woken(() => store.publish(second!, { state: 'ready', outcome: 'released' }))).toBe(true)
    expect(await woken(() => store.transaction((tx) => store.cancel(tx, 'job-3')))).toBe(true)
    expect(await woken(() => store.transaction((tx) => store.resume(tx, 'title')))).toBe(true)
    expect(await woken(() => store.transaction((tx) => store.forget(tx, 'subject-3')))).toBe(true)
    // But not for what a claim or a heartbeat changes: a worker would wake itself for ever.
    const claim = () =>
      store.claim({ worker: 'worker-1', limit: 9, leaseMs: 1_000, kinds: [{ kind: 'title' }] })
    expect(await woken(claim)).toBe(false)
    expect(await woken(() => store.heartbeat([first!], 1_000))).toBe(false)
  })
})
