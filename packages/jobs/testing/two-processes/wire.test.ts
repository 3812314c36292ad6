import { ConstraintViolation, StoreUnavailable, TransactionClosed } from '@garner/db'
import { expect, test } from 'vitest'
import { OperationConflict, QueueFull } from '../../src/errors.ts'
import { type Message, Wire } from './wire.ts'

/** Two ends that copy every message, as two processes would; `root` is what the far one offers. */
function wired<T>(root: object, methods: string[] | null): { near: Wire; other: T; messages: Message[] } {
  const messages: Message[] = []
  const carry = (to: () => Wire) => (message: Message) => {
    const copy = structuredClone(message)
    messages.push(copy)
    setImmediate(() => to().take(copy))
  }
  const near: Wire = new Wire({ send: carry(() => far), stamp: () => 'noon' })
  const far: Wire = new Wire({ send: carry(() => near) })
  far.offer(root)
  return { near, other: near.other(methods) as T, messages }
}

test('data is copied, there and back, and only the one who stamps stamps', async () => {
  const said = { n: 1, list: [null, undefined], bytes: new Uint8Array([7]) }
  const { other, messages } = wired<(value: unknown) => Promise<unknown>>(
    async (value: unknown) => value,
    null,
  )
  const answer = await other(said)
  expect(answer).toEqual(said)
  expect(answer).not.toBe(said)
  expect(messages.map((one) => one.stamp)).toEqual(['noon', undefined])
})

test('a function is called back where it is, as often as the other end likes', async () => {
  const { other } = wired<(work: (n: number) => Promise<number>) => Promise<number>>(
    async (work: (n: number) => Promise<number>) => (await work(1)) + (await work(2)),
    null,
  )
  const seen: number[] = []
  expect(
    await other(async (n) => {
      seen.push(n)
      return 10 * n
    }),
  ).toBe(30)
  expect(seen).toEqual([1, 2])
})

test('what has methods is called where it is, and is itself again when it comes home', async () => {
  class Transaction {
    async all() {
      return [this.text]
    }
    afterCommit() {}
    readonly text = 'far'
  }
  const tx = new Transaction()
  const far = {
    begin: async (work: (tx: Transaction) => Promise<unknown>) => work(tx),
    isIt: async (one: unknown) => one === tx,
  }
  const { other } = wired<typeof far>(far, ['begin', 'isIt'])
  expect(await other.begin(async (one) => [await one.all(), await other.isIt(one)])).toEqual([['far'], true])
  expect(await other.isIt({})).toBe(false)
})

test('what a callback throws comes back as the very error that it threw, whatever the other end is', async () => {
  const mine = Object.assign(new Error('mine'), { noClone: 1 })
  const { other } = wired<(work: () => Promise<unknown>) => Promise<unknown>>(
    async (work: () => Promise<unknown>) => work(),
    null,
  )
  await expect(
    other(async () => {
      throw mine
    }),
  ).rejects.toBe(mine)
  await expect(other(() => Promise.reject('a text'))).rejects.toBe('a text')
})

test('an error of the other end that is let through by a callback is its own again there', async () => {
  const theirs = new OperationConflict('op-1')
  const caught: unknown[] = []
  const far = {
    fail: async () => {
      throw theirs
    },
    pass: async (work: () => Promise<unknown>) => {
      await work().catch((error) => caught.push(error))
    },
  }
  const { other } = wired<typeof far>(far, ['fail', 'pass'])
  await other.pass(() => other.fail())
  expect(caught[0]).toBe(theirs)
})

test.each([
  new QueueFull({ scope: 'tenant', limit: 2, pending: 3, retryAfterMs: 7_000 }),
  new OperationConflict('op-1'),
  new StoreUnavailable('busy', 'testing'),
  new ConstraintViolation('unique', undefined),
  new TransactionClosed('it has ended'),
  new RangeError('too much'),
  new TypeError('no such thing'),
  Object.assign(new Error('of no class we know'), { code: 'ERR_OTHER', errcode: 5 }),
])('%o arrives as one of its class, with its fields and where it was thrown', async (error) => {
  const { other } = wired<() => Promise<never>>(() => Promise.reject(error), null)
  const arrived = await other().catch((one) => one)
  expect(arrived).not.toBe(error)
  expect(arrived).toBeInstanceOf(error.constructor)
  expect(arrived).toMatchObject({ ...error, name: error.name, message: error.message, stack: error.stack })
})

test('what cannot be copied fails its own call alone', async () => {
  const { other } = wired<(value: unknown) => Promise<unknown>>(
    async (value: unknown) => (value === 'symbol' ? [Symbol('s')] : value),
    null,
  )
  await expect(other([Symbol('s')])).rejects.toMatchObject({ name: 'DataCloneError' })
  await expect(other('symbol')).rejects.toThrow('could not be cloned')
  expect(await other('text')).toBe('text')
})

test('when the other end is gone, calls under way and later ones are told so', async () => {
  const { near, other } = wired<() => Promise<void>>(() => new Promise(() => {}), null)
  const under = other()
  near.end(new Error('gone'))
  await expect(under).rejects.toThrow('gone')
  await expect(other()).rejects.toThrow('gone')
})
