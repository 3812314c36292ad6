import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from './clock.ts'
import type { Database, Transaction } from './database.ts'
import { StoreUnavailable } from './errors.ts'
import { Gathering, OwnFault, Refused } from './gathering.ts'
import { openSqlite } from './sqlite/database.ts'

interface Call {
  text: string
  /** How its write goes wrong. */
  fault?: Error
  refused?: Error
}

/** Calls that each write a row; the texts of each transaction are listed. */
async function desk(aroundCommit?: (effect: () => void) => void | Promise<void>) {
  const db = openSqlite({ path: ':memory:', clock: systemClock(), ...(aroundCommit && { aroundCommit }) })
  onTestFinished(() => db.close())
  await db.transaction((tx) => tx.run('CREATE TABLE notes (text TEXT)'))
  const batches: string[][] = []
  const write = async (tx: Transaction, calls: Call[]) => {
    batches.push(calls.map((one) => one.text))
    const answers: (string | Refused)[] = []
    for (const { text, fault, refused } of calls) {
      if (refused) {
        answers.push(new Refused(refused))
        continue
      }
      await tx.run('INSERT INTO notes VALUES (?)', text)
      if (fault) throw fault
      answers.push(`${text} done`)
    }
    return answers
  }
  return { db, batches, write, gathering: new Gathering<Call, string>(db, write) }
}

async function textsOf(db: Database): Promise<string[]> {
  const rows = await db.read.all<{ text: string }>('SELECT text FROM notes ORDER BY rowid')
  return rows.map((one) => one.text)
}

const calls = (count: number): Call[] => Array.from({ length: count }, (_, n) => ({ text: `call ${n}` }))

test('calls that come together are one transaction, each with its own answer', async () => {
  const { db, batches, gathering } = await desk()
  const answers = await Promise.all(calls(5).map((one) => gathering.make(one)))
  expect(answers).toEqual(calls(5).map((one) => `${one.text} done`))
  expect(batches).toHaveLength(1)
  expect(await textsOf(db)).toHaveLength(5)
})

test('calls that come while a commit is under way share the next one', async () => {
  const gate = Promise.withResolvers<void>()
  const committing = Promise.withResolvers<void>()
  let commits = 0
  const { batches, gathering } = await desk(async (effect) => {
    commits++
    if (commits === 2) {
      committing.resolve()
      await gate.promise
    }
    effect()
  })
  const [first, ...others] = calls(4)
  const answers = [gathering.make(first!)]
  await committing.promise
  answers.push(...others.map((one) => gathering.make(one)))
  gate.resolve()
  await Promise.all(answers)
  expect(batches).toEqual([['call 0'], ['call 1', 'call 2', 'call 3']])
  expect(commits).toBe(3)
})

test('however many come, a batch is of 512 at most and all are answered', async () => {
  const { db, batches, gathering } = await desk()
  await Promise.all(calls(1_200).map((one) => gathering.make(one)))
  expect(batches.map((one) => one.length)).toEqual([512, 512, 176])
  expect(await textsOf(db)).toHaveLength(1_200)
})

test('one that is refused takes nothing of the others with it, and nobody is written twice', async () => {
  const { db, batches, gathering } = await desk()
  const trouble = new Error('trouble')
  const answers = await Promise.allSettled([
    gathering.make({ text: 'one' }),
    gathering.make({ text: 'two', refused: trouble }),
    gathering.make({ text: 'three' }),
  ])
  expect(answers.map((one) => one.status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(answers[1]).toMatchObject({ reason: trouble })
  expect(batches).toHaveLength(1)
  expect(await textsOf(db)).toEqual(['one', 'three'])
})

test('one that fails undoes the batch; each is then made by itself, and the failure stays its own', async () => {
  const { db, batches, gathering } = await desk()
  const trouble = new Error('trouble')
  const answers = await Promise.allSettled([
    gathering.make({ text: 'one' }),
    gathering.make({ text: 'two', fault: new OwnFault(trouble) }),
    gathering.make({ text: 'three' }),
  ])
  expect(answers).toMatchObject([
    { status: 'fulfilled', value: 'one done' },
    { status: 'rejected', reason: trouble },
    { status: 'fulfilled', value: 'three done' },
  ])
  expect(batches[0]).toEqual(['one', 'two', 'three'])
  expect(batches.slice(1).every((one) => one.length === 1)).toBe(true)
  expect((await textsOf(db)).sort()).toEqual(['one', 'three'])
})

// What a handler's writes throw may be a StoreUnavailable of another store: nobody else is to wait for that one.
test('a fault that looks like the store’s own stays its own all the same', async () => {
  const { gathering } = await desk()
  const away = new StoreUnavailable('injected', 'asking another store')
  const answers = await Promise.allSettled([
    gathering.make({ text: 'one' }),
    gathering.make({ text: 'two', fault: new OwnFault(away) }),
  ])
  expect(answers).toMatchObject([{ status: 'fulfilled' }, { status: 'rejected', reason: away }])
})

test('one that comes alone and fails is made once', async () => {
  const { batches, gathering } = await desk()
  const trouble = new Error('trouble')
  await expect(gathering.make({ text: 'one', fault: new OwnFault(trouble) })).rejects.toBe(trouble)
  expect(batches).toHaveLength(1)
})

test('a commit that fails refuses all of a batch, and nothing of anyone is there', async () => {
  let isBroken = false
  const { db, batches, gathering } = await desk((effect) => {
    if (isBroken) throw new StoreUnavailable('io', 'testing')
    effect()
  })
  isBroken = true
  const answers = await Promise.allSettled(calls(3).map((one) => gathering.make(one)))
  isBroken = false
  for (const one of answers) expect(one).toMatchObject({ reason: { code: 'STORE_UNAVAILABLE' } })
  expect(batches).toHaveLength(1)
  expect(await textsOf(db)).toEqual([])
  expect(await gathering.make({ text: 'later' })).toBe('later done')
})

test('a store that cannot even begin refuses all, and the next calls are made', async () => {
  const { db, gathering } = await desk()
  await db.close()
  const answers = await Promise.allSettled(calls(3).map((one) => gathering.make(one)))
  for (const one of answers) expect(one).toMatchObject({ reason: { reason: 'closed' } })
  await expect(gathering.make({ text: 'again' })).rejects.toMatchObject({ reason: 'closed' })
})

test('on PostgreSQL each call is a transaction of its own', async () => {
  const { db, batches, write } = await desk()
  const gathering = new Gathering<Call, string>({ ...db, dialect: 'postgres' }, write)
  expect(await Promise.all(calls(3).map((one) => gathering.make(one)))).toHaveLength(3)
  expect(batches).toHaveLength(3)
})

test('one that is alone in its transaction and refused leaves nothing of it, whatever it had locked or written', async () => {
  const { db } = await desk()
  const trouble = new Error('trouble')
  const gathering = new Gathering<Call, string>({ ...db, dialect: 'postgres' }, async (tx) => {
    await tx.run('INSERT INTO notes VALUES (?)', 'on the way')
    return [new Refused(trouble)]
  })
  await expect(gathering.make({ text: 'one' })).rejects.toBe(trouble)
  expect(await textsOf(db)).toEqual([])
})
