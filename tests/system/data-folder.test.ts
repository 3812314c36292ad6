import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { call, list, look, save } from './api.ts'
import { runGarner, startGarner, tempDir, until } from './garner.ts'
import { attempts, rows } from './rows.ts'
import { startSite } from './site.ts'

const ENV = { GARNER_FETCH_ALLOW: '127.0.0.1' }

describe('over the life of one data folder', () => {
  test('SIGTERM while a page hangs: ended within 10 s, the job given back, its try not spent; a restart finds all', async () => {
    const site = await startSite()
    const first = await startGarner({ args: ['all', '--demo'], env: ENV })
    const done = await save(first, { url: 'https://done.example/', note: 'kept' })
    await until(async () => (await look(first, done.id)).body.title_status === 'ready')
    site.hold('/hangs')
    const hanging = await save(first, { url: `${site.url}/hangs` })
    await site.waiting('/hangs')
    const askedAtMs = performance.now()
    expect(await first.stop()).toEqual({ code: 0, signal: null })
    expect(performance.now() - askedAtMs).toBeLessThan(10_000)
    expect(first.log).not.toContain('"level":50')
    const job = rows(
      first.dataDir,
      'SELECT state, attempt FROM jobs WHERE subject = ?',
      `bookmark:${hanging.id}`,
    )
    expect(job).toEqual([{ state: 'ready', attempt: 0 }])
    expect(attempts(first.dataDir, hanging.url).map((one) => one.outcome)).toEqual(['released'])

    site.release('/hangs', 'It came after all')
    const second = await startGarner({ args: ['all', '--demo'], env: ENV, dataDir: first.dataDir })
    const found = await until(async () => {
      const { body } = await look(second, hanging.id)
      return body.title_status === 'ready' && body
    })
    expect(found).toMatchObject({ title: 'It came after all', title_tries: 1 })
    expect((await look(second, done.id)).body).toMatchObject({ note: 'kept', title_status: 'ready' })
  })

  test('two servers on one folder: what one saves the other shows, and a title is fetched once', async () => {
    const site = await startSite()
    const [one, two] = await Promise.all(
      [startGarner({ env: ENV, dataDir: tempDir() })].flatMap((first) => [
        first,
        first.then(({ dataDir }) => startGarner({ env: ENV, dataDir })),
      ]),
    )
    if (!one || !two) throw new Error('two were started')
    const saved = await Promise.all(
      [0, 1, 2, 3].map((n) => save(n % 2 === 0 ? one : two, { url: `${site.url}/${n}`, force: true })),
    )
    for (const server of [one, two]) {
      expect((await list(server)).map((item) => item.id).sort()).toEqual(saved.map((item) => item.id).sort())
    }
    await until(async () => (await list(two)).every((item) => item.title_status === 'ready'))
    expect([...site.hits.values()]).toEqual([1, 1, 1, 1])
    const key = { headers: { 'idempotency-key': 'told-to-both' } }
    const [first, second] = await Promise.all([
      call(`${one.url}/api/bookmarks`, { ...key, body: { url: 'https://both.example/', group: 'study' } }),
      call(`${two.url}/api/bookmarks`, { ...key, body: { url: 'https://both.example/', group: 'study' } }),
    ])
    expect([first.status, second.status, second.body.id]).toEqual([201, 201, first.body.id])
    expect(await list(one)).toHaveLength(5)
  })

  test('a clock that is ahead: what is saved is saved then', async () => {
    const server = await startGarner({ args: ['serve', '--demo'], env: { GARNER_CLOCK_ADVANCE_S: '864000' } })
    const saved = (await save(server, { url: 'https://then.example/' })) as unknown as { saved_at: string }
    expect(Date.parse(saved.saved_at) - Date.now()).toBeGreaterThan(863_000_000)
  })

  test('backup while it runs, restore after it ended: what was saved before is there, the rest is kept aside', async () => {
    const server = await startGarner({ args: ['serve', '--demo'] })
    await save(server, { url: 'https://before.example/' })
    const file = join(tempDir(), 'garner.backup')
    const garner = (...args: string[]) => runGarner([...args, '--demo'], { GARNER_DATA: server.dataDir })
    expect(await garner('backup', file)).toMatchObject({ code: 0, stdout: `Backed up to ${file}.\n` })
    expect((await garner('backup', file)).code).toBe(2)
    await save(server, { url: 'https://after.example/' })
    expect((await list(server)).map((one) => one.url)).toHaveLength(2)
    await server.kill()
    expect(await garner('restore', `${file}.not-there`)).toMatchObject({ code: 2, stdout: '' })
    const restored = await garner('restore', file)
    expect([restored.code, restored.stdout]).toEqual([0, expect.stringContaining(`Restored from ${file}.`)])
    const again = await startGarner({ args: ['serve', '--demo'], dataDir: server.dataDir })
    expect((await list(again)).map((one) => one.url)).toEqual(['https://before.example/'])
    expect(readdirSync(server.dataDir).filter((name) => name.includes('before-restore'))).not.toEqual([])
  })
})
