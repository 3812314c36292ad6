import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Page } from 'playwright-core'
import { describe, expect, onTestFinished, test } from 'vitest'
import { caseNamed } from '../cases/link-cases.ts'
import { call, save } from '../system/api.ts'
import { startGarner } from '../system/garner.ts'
import { startSite } from '../system/site.ts'
import { ALICE, askForAnAccount, goTo, MEI, setUp } from './accounts.ts'
import { browserForFile, choose, chromiumPath, groupHeading, rowWith, saveBox, soon } from './browser.ts'

/** Runs if it is ever taken for markup or script: says so by a dialog, and by a mark on the window. */
const PAYLOADS = [
  '<img src=x onerror="window.hasRun=1;alert(1)">',
  '"><svg onload=window.hasRun=1>',
  '<script>window.hasRun=1</script>',
] as const
const titleCase = caseNamed('s-title-in-json')
const TITLES = [...(titleCase.input.titles ?? []), ...PAYLOADS]

const oneLine = (text: string) => text.replace(/\s+/g, ' ').trim()

/** A site whose page number N has the Nth of these titles, correctly written as HTML. */
async function siteWithTitles(titles: readonly string[]): Promise<{ host: string; url: string }> {
  const server = createServer((request, answer) => {
    const title = titles[Number(request.url?.slice(1))] ?? ''
    answer.writeHead(200, { 'content-type': 'text/html; charset=utf-8', connection: 'close' })
    answer.end(`<!doctype html><title>${title.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</title>`)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return { host, url: `http://${host}` }
}

/** As the person of this page, by her own cookie. */
async function post(page: Page, path: string, data: unknown): Promise<Record<string, string>> {
  const answer = await page.request.post(new URL(path, page.url()).href, { data })
  if (!answer.ok()) throw new Error(`${answer.status()} for ${path}: ${await answer.text()}`)
  return answer.status() === 204 ? {} : await answer.json()
}

const linkOf = (page: Page, id: string | undefined) => page.locator(`li[data-link="${id}"]`)

describe.skipIf(chromiumPath === null)('hostile words, in a browser', { timeout: 180_000 }, () => {
  const open = browserForFile()

  test('titles, notes and names are shown as they were written, and nothing of them runs', async () => {
    const site = await siteWithTitles(TITLES)
    const garner = await startGarner({ args: ['all'], env: { GARNER_FETCH_ALLOW: site.host } })
    const { page } = await open(garner.url)
    const groupName = PAYLOADS[0]
    await setUp(page, { ...ALICE, name: PAYLOADS[1] }, { group: groupName })
    await groupHeading(page, groupName).waitFor()
    const group = decodeURIComponent(new URL(page.url()).pathname.split('/').at(-1) ?? '')

    const other = (await open(garner.url)).page
    await askForAnAccount(other, { ...MEI, name: PAYLOADS[2] })
    await other.getByRole('heading', { level: 1, name: `Almost in, ${PAYLOADS[2]}` }).waitFor()
    await goTo(page, 'Settings')
    await page.getByRole('button', { name: `Let in ${PAYLOADS[2]}` }).click()
    await page.getByText(`${PAYLOADS[2]} is in`).waitFor()
    await post(page, `/api/groups/${encodeURIComponent(group)}/members`, { email: MEI.email })
    await saveBox(other).waitFor()

    // Each is saved by the other, with a note that is a payload as well.
    const saved = new Map<string, string>()
    for (const [i, title] of TITLES.entries()) {
      const { id = '' } = await post(other, '/api/bookmarks', {
        url: `${site.url}/${i}`,
        group,
        note: PAYLOADS[i % PAYLOADS.length],
      })
      saved.set(id, title)
    }
    await goTo(page, 'Reading')
    await page.reload()
    for (const [id, title] of saved) {
      const row = linkOf(page, id)
      await soon(async () => oneLine((await row.locator('h3').textContent()) ?? '')).toBe(oneLine(title))
      const shown = await page.request.get(`${garner.url}/api/bookmarks/${id}`)
      expect(await row.locator('h3').textContent()).toBe((await shown.json()).title)
      expect(PAYLOADS).toContain(await row.locator('.note').textContent())
      expect(await row.locator('.meta bdi').textContent()).toBe(PAYLOADS[2])
      await row.locator('.meta').click()
      await page.getByRole('complementary').getByText('Title found').waitFor()
    }
    expect(await page.title()).toBe(`${groupName} · Garner`)
    await goTo(page, 'Settings')
    await page.getByRole('button', { name: `Members of ${groupName}` }).click()
    await page.getByRole('listitem').getByText(PAYLOADS[2], { exact: true }).first().waitFor()

    for (const one of [page, other]) {
      expect(await one.evaluate('window.hasRun')).toBeUndefined()
      expect(await one.locator('main img, main script').count()).toBe(0)
    }
  })

  test('only web addresses can be followed, whatever stands in the list', async () => {
    const garner = await startGarner()
    const refused = [
      'javascript:alert(1)',
      'data:text/html,<script>alert(1)</script>',
      'vbscript:x',
      'file:///etc',
    ]
    for (const url of refused) {
      const answer = await call(`${garner.url}/api/bookmarks`, { body: { url, group: 'study' } })
      expect(answer.status).toBe(400)
    }
    // Past the front door all the same, as by a fault to come or a restored backup from elsewhere.
    const ids = new Map<string, string>()
    const db = new DatabaseSync(join(garner.dataDir, 'garner.db'))
    try {
      db.exec('PRAGMA busy_timeout = 5000')
      for (const [i, url] of refused.entries()) {
        const { id } = await save(garner, { url: `https://example.org/${i}` })
        db.prepare('UPDATE bookmarks SET url = ? WHERE id = ?').run(url, id)
        ids.set(id, url)
      }
    } finally {
      db.close()
    }
    await save(garner, { url: 'https://example.org/good' })
    const { page, context } = await open(garner.url, { as: 'Alice' })
    await page.getByRole('link', { name: 'Good · example.org' }).waitFor()
    for (const id of ids.keys()) {
      const row = linkOf(page, id)
      await row.waitFor()
      expect(await row.getByRole('link').count()).toBe(0)
      await row.locator('.meta').click()
      await page.getByRole('complementary').waitFor()
      await page.keyboard.press('o')
      await row.getByRole('button', { name: /^More for / }).click()
      await page.getByRole('menuitem', { name: 'Details' }).waitFor()
      expect(await page.getByRole('menuitem', { name: 'Open', exact: true }).count()).toBe(0)
      await page.keyboard.press('Escape')
    }
    const hrefs = await page
      .getByRole('link')
      .evaluateAll((all) => all.map((one) => one.getAttribute('href')))
    expect(hrefs.filter((href) => /^(javascript|data|vbscript|file):/i.test(href ?? ''))).toEqual([])
    expect(context.pages()).toHaveLength(1)
  })

  test('an address with a stray percent sign is shown and can be followed, and the list stays whole', async () => {
    const garner = await startGarner()
    const urls = caseNamed('d-bad-percent').input.urls ?? []
    expect(urls.length).toBeGreaterThan(3)
    const saved = new Map<string, string>()
    for (const url of urls) {
      for (const title_mode of ['ok', 'timeout']) {
        saved.set((await save(garner, { url, title_mode, force: true })).id, url)
      }
    }
    const { page } = await open(garner.url, { as: 'Alice' })
    await soon(() => page.locator('li.row').count()).toBe(saved.size)
    for (const [id, url] of saved) {
      expect(await linkOf(page, id).locator('h3 a').getAttribute('href')).toBe(url)
      expect(oneLine((await linkOf(page, id).locator('h3').textContent()) ?? '')).not.toBe('')
      await linkOf(page, id).locator('.meta').click()
      await page.getByRole('complementary').getByRole('heading', { level: 2 }).waitFor()
    }
    await choose(page, linkOf(page, [...saved.keys()][0]), 'Add a note')
    await page.getByRole('dialog').getByLabel('Link', { exact: true }).waitFor()
    expect(await page.getByRole('dialog').getByLabel('Link', { exact: true }).inputValue()).toBe(urls[0])
  })

  test('the page allows itself nothing from elsewhere, and no script in its markup', async () => {
    const site = await startSite()
    const garner = await startGarner()
    await save(garner, { url: 'https://example.org/quiet' })
    const visit = await open(garner.url, { as: 'Alice' })
    const { page } = visit
    await rowWith(page, 'Quiet').waitFor()
    for (const path of ['/', '/reading/study', '/settings']) {
      const { headers } = await call(garner.url + path, { user: null })
      const policy = headers.get('content-security-policy') ?? ''
      for (const part of [
        "default-src 'self'",
        "object-src 'none'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
      ]) {
        expect(policy.split(/;\s*/)).toContain(part)
      }
      expect(policy).not.toMatch(/script-src|unsafe-eval|\*/)
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('referrer-policy')).toBe('no-referrer')
    }
    expect([...visit.errors, ...visit.elsewhere]).toEqual([])

    // The guard itself: markup that did get in could neither run nor report to anybody.
    await page.evaluate(`(() => {
      const script = document.createElement('script')
      script.textContent = 'window.hasRun = 1'
      document.body.append(script)
      const image = document.createElement('img')
      image.setAttribute('onerror', 'window.hasRun = 1')
      image.src = '${site.url}/beacon'
      document.body.append(image)
    })()`)
    await soon(
      () => visit.errors.filter((words) => words.includes('Content Security Policy')).length,
    ).toBeGreaterThan(2)
    expect(await page.evaluate('window.hasRun')).toBeUndefined()
    expect(site.connections).toBe(0)
    visit.errors.length = 0
    visit.elsewhere.length = 0
  })
})
