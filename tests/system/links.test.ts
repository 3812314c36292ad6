import { beforeAll, describe, expect, test } from 'vitest'
import { caseNamed } from '../cases/link-cases.ts'
import { type Answer, call, type Item, list, look, save } from './api.ts'
import { type GarnerProcess, runGarner, startGarner, until } from './garner.ts'
import { census } from './rows.ts'
import { startSite } from './site.ts'

/** Cases of links.jsonl from end to end: through the API, `garner step`, and what the row then says. */
let server: GarnerProcess
beforeAll(async () => {
  server = await startGarner({ args: ['serve', '--demo'], lifetime: 'file' })
})
/** `force`: some of these are the same page written in two ways. */
const post = (url: string) =>
  call(`${server.url}/api/bookmarks`, { body: { url, group: 'study', force: true } })
const step = (env: Record<string, string> = {}) =>
  runGarner(['step', '--demo'], { ...env, GARNER_DATA: server.dataDir })
const urlsOf = (id: string) => caseNamed(id).input.urls ?? []
const saved = async (id: string) => {
  const answers: Answer[] = []
  for (const url of urlsOf(id)) answers.push(await post(url))
  expect(answers.map((one) => [one.status, one.body.url])).toEqual(urlsOf(id).map((url) => [201, url]))
  return answers.map((one) => one.body as Item)
}
const rowsOf = async (items: Item[]) =>
  Promise.all(items.map(async ({ id }) => (await look(server, id)).body))

test('s-schemes: what is no web address is refused with 400 and leaves nothing', async () => {
  const before = census(server.dataDir)
  for (const url of urlsOf('s-schemes')) {
    const answer = await post(url)
    expect([url, answer.status, answer.body.errors[0].path]).toEqual([url, 400, 'url'])
  }
  expect(census(server.dataDir)).toEqual(before)
})

test('s-private-literals and s-names: saved, never connected to, and the row says refused', async () => {
  const trap = await startSite()
  const own = ['127.0.0.1', 'localhost', '[::1]', '[::ffff:127.0.0.1]'].map(
    (host) => `http://${host}:${new URL(trap.url).port}/trap`,
  )
  const items = await saved('s-private-literals')
  for (const url of own) items.push((await post(url)).body)
  // The others of the case are names of its own resolver; they are tested where one can be given.
  for (const url of urlsOf('s-names').filter((one) => !/\.example\//.test(one)))
    items.push((await post(url)).body)
  const report = JSON.parse((await step()).stdout)
  expect(report).toMatchObject({ claimed: items.length, degraded: items.length, published: 0, retried: 0 })
  for (const row of await rowsOf(items)) {
    expect([row.url, row.title, row.title_status, row.title_error]).toEqual([
      row.url,
      null,
      'refused',
      'blocked_address',
    ])
  }
  expect(trap.connections).toBe(0)
})

test('d-bad-percent, d-hosts: saved byte for byte, fetched, and the list renders', async () => {
  const items = [...(await saved('d-bad-percent')), ...(await saved('d-hosts'))]
  expect((await step()).code).toBe(0)
  for (const row of await rowsOf(items)) expect([row.url, row.title_status]).toEqual([row.url, 'ready'])
  expect((await list(server)).map((one) => one.url)).toEqual(
    expect.arrayContaining(items.map((one) => one.url)),
  )
})

test('d-stored-bytes: the address stays byte for byte what was given, and that is what is asked for', async () => {
  const site = await startSite()
  const given = caseNamed('d-stored-bytes').input.url?.replace('https://example.com', site.url) ?? ''
  const item = await save(server, { url: given })
  expect(item.url).toBe(given)
  await step({ GARNER_FETCH_ALLOW: site.host })
  expect((await look(server, item.id)).body).toMatchObject({ url: given, title_status: 'ready' })
  expect([...site.hits.keys()]).toEqual([given.slice(site.url.length)])
})

test('d-idn-invalid: refused with a message, or saved and failed; never a crash', async () => {
  const items: Item[] = []
  for (const url of urlsOf('d-idn-invalid')) {
    const answer = await post(url)
    expect([url, [201, 400].includes(answer.status)]).toEqual([url, true])
    if (answer.status === 201) items.push(answer.body)
  }
  // Names come and go, so it is tried again; here without a wait.
  expect((await step({ GARNER_RETRY_BASE_S: '0' })).code).toBe(0)
  for (const row of await rowsOf(items)) {
    expect([row.url, row.title_status, row.title_error]).toEqual([row.url, 'failed', 'dns'])
  }
})

test('d-same-destination: two doors to one page stay two links, and the second says so', async () => {
  const to = (status: number) => (answer: import('node:http').ServerResponse) => {
    answer.writeHead(status, { location: '/page', connection: 'close' }).end()
  }
  const site = await startSite({ '/x': to(301), '/y': to(302) })
  const x = await save(server, { url: `${site.url}/x` })
  const y = await save(server, { url: `${site.url}/y` })
  await step({ GARNER_FETCH_ALLOW: site.host })
  const [first, second] = await rowsOf([x, y])
  expect([first.title, second.title]).toEqual(['Title of /page', 'Title of /page'])
  expect([first.url, second.url]).toEqual([x.url, y.url])
  expect([first.also_saved_as, second.also_saved_as]).toEqual([null, x.id])
  const listed = (await list(server)).filter((one) => [x.id, y.id].includes(one.id))
  expect(listed.map((one) => one.also_saved_as)).toEqual([null, x.id])
})

describe('s-log-hygiene: what is said on the way is ids, sizes and kinds of errors', () => {
  test('no address, title, note, key or cookie in any log; standard output has only what it promises', async () => {
    const site = await startSite({
      '/broken?token=abc123': (answer) => void answer.socket?.destroy(),
    })
    site.release('/?token=abc123', 'Secret diary title')
    const garner = await startGarner({ args: ['all', '--demo'], env: { GARNER_FETCH_ALLOW: site.host } })
    const secrets = {
      url: `${site.url}/?token=abc123`,
      note: 'my private note',
      page_title: 'Title from the browser',
    }
    const headers = {
      'idempotency-key': 'key-that-is-mine',
      cookie: 'session=cookie-crumbs',
      authorization: 'Bearer very-secret',
    }
    const { id } = await save(garner, secrets, { headers })
    await save(garner, { url: `${site.url}/broken?token=abc123` })
    await until(async () => (await look(garner, id)).body.title_status === 'ready')
    await until(async () =>
      (await list(garner)).every((one) => one.title_status !== 'pending' || one.title_error !== null),
    )
    await call(`${garner.url}/api/bookmarks?group=study&q=search+words`, { headers })
    await call(`${garner.url}/api/bookmarks`, { headers, body: '{"url":"https://half.example/?token=abc123' })
    await call(`${garner.url}/api/bookmarks`, {
      headers,
      body: { url: 'https://x.example/?token=abc123', extra: 'field content' },
    })
    await call(`${garner.url}/api/bookmarks/%zz?token=abc123`, { headers })
    await call(`${garner.url}/api/bookmarks?token=abc123`, { headers })
    await garner.stop()
    const never =
      /abc123|diary|private note|from the browser|key-that-is-mine|crumbs|very-secret|search|half\.example|x\.example|field content|127\.0\.0\.1:\d+\/\S/i
    expect(garner.log.match(never)?.[0]).toBe(undefined)
    expect(garner.log).toContain('attempt ended')
    const lines = garner.log.split('\n').filter((line) => line !== '' && !line.startsWith('{'))
    expect(lines).toEqual([`Garner listening on ${garner.url}`])

    const stepped = await runGarner(['step', '--demo', '--advance', '7200'], {
      GARNER_DATA: garner.dataDir,
      GARNER_FETCH_ALLOW: site.host,
    })
    expect(stepped.stdout).toMatch(/^\{"claimed":1,[^\n]*\}\n$/)
    expect(stepped.stderr).toContain('attempt ended')
    expect(stepped.stderr.match(never)?.[0]).toBe(undefined)
  })
})
