import { renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { type Answer, call, list, save } from './api.ts'
import { startGarner, until } from './garner.ts'
import { rows } from './rows.ts'

const KEY = { 'idempotency-key': 'the-same-save' }
const body = { url: 'https://later.example/', group: 'study' }

/** 503 with a time to come back, and no word of success. */
function expectAway(answer: Answer) {
  expect([answer.status, answer.body?.type]).toEqual([503, 'unavailable'])
  expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
  expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/)
}

describe('a database that another process has locked', () => {
  test.each(['IMMEDIATE', 'EXCLUSIVE'])(
    'BEGIN %s: every write answers 503 and stores nothing; reads go on; after the lock all is well',
    async (how) => {
      const server = await startGarner({ args: ['all', '--demo'] })
      const first = await save(server, { url: 'https://first.example/' })
      await until(async () => (await list(server))[0]?.title_status === 'ready')
      const lock = new DatabaseSync(join(server.dataDir, 'garner.db'))
      lock.exec(`PRAGMA busy_timeout = 5000; BEGIN ${how}`)
      const at = `${server.url}/api/bookmarks`
      const writes = await Promise.all([
        call(at, { body, headers: KEY }),
        call(at, { body: { ...body, url: 'https://no-key.example/' } }),
        call(`${at}/${first.id}`, { method: 'PATCH', body: { version: 1, note: 'lost?' } }),
        call(`${at}/${first.id}/read`, { method: 'PATCH', body: { is_read: true } }),
        call(`${at}/${first.id}/refresh`, { method: 'POST' }),
        call(`${at}/${first.id}`, { method: 'DELETE' }),
      ])
      for (const answer of writes) expectAway(answer)
      expect(await list(server)).toHaveLength(1)
      expect((await call(`${server.url}/healthz`, { user: null })).status).toBe(200)

      lock.exec('ROLLBACK')
      lock.close()
      expect(await list(server)).toMatchObject([{ id: first.id, note: '', version: 1, is_read: false }])
      const repeated = await call(at, { body, headers: KEY })
      expect([repeated.status, repeated.headers.get('idempotency-replayed')]).toEqual([201, null])
      await until(async () => (await list(server)).every((one) => one.title_status === 'ready'))
      expect(await list(server)).toHaveLength(2)
    },
  )
})

describe('a database whose file is gone', () => {
  test('saves and reads answer 503, /readyz says so, and nobody is told yes; put back, it goes on', async () => {
    const server = await startGarner({ args: ['all', '--demo'] })
    await save(server, { url: 'https://first.example/' })
    await until(async () => (await list(server))[0]?.title_status === 'ready')
    const file = join(server.dataDir, 'garner.db')
    const moved = ['', '-wal', '-shm'].map((end) => [`${file}${end}`, `${file}.moved${end}`] as const)
    for (const [from, to] of moved) renameSync(from, to)
    const answers = () =>
      Promise.all([
        call(`${server.url}/api/bookmarks`, { body, headers: KEY }),
        call(`${server.url}/api/bookmarks?group=study`),
        call(`${server.url}/readyz`, { user: null }),
        call(`${server.url}/api/me`),
      ])
    // Reads look after their file every 20 ms at most.
    await until(async () => (await answers()).every((one) => one.status === 503))
    for (const answer of await answers()) expectAway(answer)
    expect((await call(`${server.url}/healthz`, { user: null })).status).toBe(200)

    for (const [to, from] of moved) renameSync(from, to)
    await until(async () => (await call(`${server.url}/readyz`, { user: null })).status === 200)
    expect(await list(server)).toHaveLength(1)
    expect((await call(`${server.url}/api/bookmarks`, { body, headers: KEY })).status).toBe(201)
    await until(async () => (await list(server)).every((one) => one.title_status === 'ready'))
    expect(await list(server)).toHaveLength(2)
  })

  test('deleted for good: 503 until it is started again, which makes a new one; it ends properly all the same', async () => {
    const server = await startGarner({ args: ['all', '--demo'] })
    await save(server, { url: 'https://first.example/' })
    for (const end of ['', '-wal', '-shm']) rmSync(join(server.dataDir, `garner.db${end}`), { force: true })
    const answer = () => call(`${server.url}/api/bookmarks`, { body })
    expectAway(await answer())
    await until(async () => (await call(`${server.url}/readyz`, { user: null })).status === 503)
    expect(await server.stop()).toEqual({ code: 0, signal: null })
    const again = await startGarner({ args: ['all', '--demo'], dataDir: server.dataDir })
    expect(await list(again)).toEqual([])
    expect((await call(`${again.url}/api/bookmarks`, { body })).status).toBe(201)
    expect(rows(again.dataDir, 'SELECT url FROM bookmarks')).toEqual([{ url: body.url }])
  })
})
