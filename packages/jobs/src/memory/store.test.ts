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
