import { createServer, request as forward } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startFakeVision } from '../cases/fake-vision.ts'
import { call } from '../system/api.ts'
import { startGarner, until } from '../system/garner.ts'
import { settled } from '../system/photos.ts'
import { browserForFile, chromiumPath } from './browser.ts'
import {
  berlinDay,
  casePhoto,
  isLogged,
  mealsOf,
  type Picked,
  photo,
  pick,
  startUpload,
  toMeals,
  upRow,
} from './meals.ts'

const yesterday = berlinDay(-1)
/** 50 photos through one page, on a busy machine. */
const LONG = { timeoutMs: 120_000 }

/** What happens to whole batches: the cases of photos.jsonl that need a page. */
describe.skipIf(chromiumPath === null)('a batch of photos in a browser', { timeout: 180_000 }, () => {
  const open = browserForFile()

  async function diary(url: string): Promise<Page> {
    const { page } = await open(url, { as: 'Alice' })
    await toMeals(page, yesterday)
    return page
  }

  test('upl-close-mid-batch: the tab is closed after 20 of 50; picked again, the other 30 go up and nothing is logged or paid twice', async () => {
    const vision = await startFakeVision({ honoursKeys: true })
    const garner = await startGarner({
      env: { GARNER_VISION_URL: vision.url, GARNER_VISION_MODEL: 'fake:ok' },
    })
    const batch: Picked[] = []
    for (let n = 0; n < 50; n++) {
      const time = `${String(8 + Math.floor(n / 5)).padStart(2, '0')}:${String((n % 5) * 11).padStart(2, '0')}`
      batch.push(await photo(`p${n}.jpg`, `${yesterday} ${time}`, 160))
    }
    const first = await diary(garner.url)
    let answered = 0
    await first.route('**/api/auto-log', async (route) => {
      // The twenty-first never gets to the server. It is cut off, not held: what is held when a tab closes may be let go.
      if (++answered <= 20) await route.continue()
      else await route.abort('connectionfailed')
    })
    await pick(first, batch)
    await startUpload(first)
    await until(
      async () => (await call(`${garner.url}/api/meals?date=${yesterday}`)).body.days[0].meals.length === 20,
      LONG,
    )
    await first.close()
    await settled(garner)
    expect(await mealsOf(garner, yesterday)).toHaveLength(20)

    const second = await diary(garner.url)
    await pick(second, batch)
    await startUpload(second)
    await until(async () => (await second.getByText('Already logged.', { exact: true }).count()) === 20, LONG)
    await until(async () => (await mealsOf(garner, yesterday)).length === 50, LONG)
    await settled(garner)
    expect((await mealsOf(garner, yesterday)).length).toBe(50)
    expect(vision.billed).toBe(50)
  })

  test('upl-one-bad-in-batch: three go up, one has its sentence, and the batch says so', async () => {
    const garner = await startGarner()
    const page = await diary(garner.url)
    await pick(
      page,
      ['g1.jpg', 'broken.jpg', 'g2.jpg', 'g3.jpg'].map((name) => casePhoto(`upl-one-bad-in-batch/${name}`)),
    )
    // A file that is no picture says no time either: it is sent with one, and refused for what it is.
    await upRow(page, 'broken.jpg').getByRole('button', { name: 'Now' }).click()
    await startUpload(page)
    for (const name of ['g1.jpg', 'g2.jpg', 'g3.jpg']) await isLogged(page, name)
    await upRow(page, 'broken.jpg').getByText('This file is not a picture.').waitFor()
    await page.getByRole('img', { name: '3 logged, 1 not done' }).waitFor()
    expect(await mealsOf(garner, '2026-08-01')).toHaveLength(3)
  })

  test('upl-proxy-limit: a proxy that refuses large bodies with a page is told as that, and small photos pass', async () => {
    const garner = await startGarner()
    const url = await proxyWithLimit(garner.url, 1_000_000)
    const page = await diary(url)
    const large = await photo('large.jpg', `${yesterday} 12:00`)
    const padding = Buffer.alloc(2_000_000)
    await pick(page, [
      { ...large, buffer: Buffer.concat([large.buffer, padding]) },
      await photo('small.jpg', `${yesterday} 13:00`),
    ])
    await startUpload(page)
    await isLogged(page, 'small.jpg')
    await upRow(page, 'large.jpg')
      .getByText('A server between this page and Garner takes no files of')
      .waitFor()
    expect(await page.getByText('Unexpected token').count()).toBe(0)
    expect(await mealsOf(garner, yesterday)).toHaveLength(1)
  })
})

/** Stands before a Garner as nginx with its default limit does. */
async function proxyWithLimit(target: string, maxBytes: number): Promise<string> {
  const { hostname, port } = new URL(target)
  const server = createServer((incoming, outgoing) => {
    if (Number(incoming.headers['content-length'] ?? 0) > maxBytes) {
      incoming.resume()
      incoming.on('end', () =>
        outgoing
          .writeHead(413, { 'content-type': 'text/html' })
          .end('<html><h1>413 Request Entity Too Large</h1></html>'),
      )
      return
    }
    const { method, url, headers } = incoming
    const onward = forward({ hostname, port, method, path: url, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(outgoing)
    })
    onward.on('error', () => outgoing.destroy())
    outgoing.on('close', () => onward.destroy())
    incoming.pipe(onward)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
