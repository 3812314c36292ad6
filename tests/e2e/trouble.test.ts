import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { list, save } from '../system/api.ts'
import { type StartOptions, startGarner, tempDir } from '../system/garner.ts'
import { startSite } from '../system/site.ts'
import { browserForFile, chromiumPath, groupHeading, rowWith, saveBox, saveLink, soon } from './browser.ts'

/** What a person sees while something is wrong, and that nothing of theirs is lost by it. */
describe.skipIf(chromiumPath === null)('reading in trouble, in a browser', { timeout: 180_000 }, () => {
  const open = browserForFile()

  const reading = async (env: Record<string, string> = {}, options: StartOptions = {}) => {
    const garner = await startGarner({ ...options, env: { GARNER_RETRY_BASE_S: '0.05', ...env } })
    const visit = await open(garner.url, { as: 'Alice' })
    await groupHeading(visit.page, 'Study group').waitFor()
    return { ...visit, garner }
  }
  const isLive = (page: Page) => page.getByText('Live', { exact: true }).waitFor()
  const urls = async (garner: { url: string }) => (await list(garner)).map((one) => one.url)

  test('with the worker elsewhere the title comes all the same, by itself, once there is one', async () => {
    const dataDir = tempDir()
    const { page } = await reading({}, { args: ['serve', '--demo'], dataDir })
    await isLive(page)
    await saveLink(page, 'https://example.org/two-processes')
    await rowWith(page, '/two-processes').getByText('Title on its way').waitFor()
    await startGarner({ args: ['work', '--demo'], dataDir })
    await page.getByRole('link', { name: 'Two processes · example.org' }).waitFor()
  })

  test('with the queue full the link stays in the box, and goes up by itself when there is room', async () => {
    const site = await startSite()
    site.hold('/slow')
    const { page, garner } = await reading({ GARNER_FETCH_ALLOW: site.host, GARNER_MAX_PENDING: '1' })
    await saveLink(page, `${site.url}/slow`)
    await rowWith(page, '/slow').getByText('Title on its way').waitFor()
    await site.waiting('/slow')
    await saveLink(page, `${site.url}/next`)
    await page.getByText('The queue is full, so this link is not saved yet.').waitFor()
    await page.getByText(/It stays in the box and goes up in \d+ s\./).waitFor()
    expect(await saveBox(page).inputValue()).toBe(`${site.url}/next`)
    expect(await urls(garner)).toEqual([`${site.url}/slow`])

    site.release('/slow')
    await page.getByRole('link', { name: 'Title of /slow' }).waitFor()
    await page.getByRole('link', { name: 'Title of /next' }).waitFor()
    expect(await saveBox(page).inputValue()).toBe('')
    expect(await urls(garner)).toEqual([`${site.url}/slow`, `${site.url}/next`])
  })

  test('offline, links are kept on the device and go up later, each once', async () => {
    const { page, garner, context } = await reading()
    await isLive(page)
    await context.setOffline(true)
    await page.getByText('You are offline.').waitFor()
    await saveLink(page, 'https://example.org/kept-one')
    await page.getByText('1 is waiting.').waitFor()
    await saveLink(page, 'https://example.org/kept-two')
    await page.getByText('2 are waiting.').waitFor()
    await rowWith(page, 'kept-one').getByText('Kept on this device. Goes up when you are online.').waitFor()
    await page.getByText('Offline, 2 waiting').waitFor()
    expect(await urls(garner)).toEqual([])

    await context.setOffline(false)
    await page.getByRole('link', { name: 'Kept one · example.org' }).waitFor()
    await page.getByRole('link', { name: 'Kept two · example.org' }).waitFor()
    await page.getByText('Kept on this device.').waitFor({ state: 'detached' })
    await isLive(page)
    expect(await urls(garner)).toEqual(['https://example.org/kept-one', 'https://example.org/kept-two'])
  })

  test('a save whose answer was lost after it was stored is there once', async () => {
    const { page, garner } = await reading({ GARNER_FAULT: 'submit.after-commit:fail@1' })
    await saveLink(page, 'https://example.org/unsure')
    await page.getByText('Busy right now, so this link is not saved yet.').waitFor()
    await page.getByText('Saved to Study group').waitFor()
    await page.getByRole('link', { name: 'Unsure · example.org' }).waitFor()
    expect(await page.locator('li.row').count()).toBe(1)
    expect(await urls(garner)).toEqual(['https://example.org/unsure'])
  })

  test('a list that cannot be read is hatched before it was ever seen, and the last one seen after', async () => {
    const { page, garner } = await reading({ GARNER_FAULT: 'origin.read:fail@1,origin.read:fail@3' })
    await page.getByText('Busy right now, trying again').waitFor()
    expect(await page.locator('.waiting .row').count()).toBe(6)
    await page.getByRole('heading', { name: 'Nothing here yet' }).waitFor()
    await page.getByText('Busy right now').waitFor({ state: 'detached' })
    await isLive(page)

    // The third look at the list is the one after this save.
    await saveLink(page, 'https://example.org/before')
    await page.getByText('Below is what you saw last. Saving still works.').waitFor()
    await rowWith(page, 'example.org').waitFor()
    await saveLink(page, 'https://example.org/meanwhile')
    await page.getByText('Busy right now').waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'Before · example.org' }).waitFor()
    await page.getByRole('link', { name: 'Meanwhile · example.org' }).waitFor()
    expect(await urls(garner)).toHaveLength(2)
  })

  test('while the database is locked nothing is called saved; freed, the link goes up by itself', async () => {
    const { page, garner } = await reading()
    await isLive(page)
    const lock = new DatabaseSync(join(garner.dataDir, 'garner.db'))
    try {
      lock.exec('PRAGMA busy_timeout = 5000; BEGIN IMMEDIATE')
      await saveLink(page, 'https://example.org/patience')
      await page.getByText('Busy right now, so this link is not saved yet.').waitFor()
      expect(await saveBox(page).inputValue()).toBe('https://example.org/patience')
      expect(await page.locator('li.row').count()).toBe(0)
      expect(await page.getByText('Saved to Study group').count()).toBe(0)
      lock.exec('ROLLBACK')
    } finally {
      lock.close()
    }
    await page.getByText('Saved to Study group').waitFor()
    await page.getByRole('link', { name: 'Patience · example.org' }).waitFor()
    expect(await urls(garner)).toEqual(['https://example.org/patience'])
  })

  test('Garner away: said so, a link kept meanwhile; back again, all is caught up without a reload', async () => {
    const dataDir = tempDir()
    const { page, garner } = await reading({}, { dataDir })
    await isLive(page)
    await page.evaluate('window.isTheSamePage = true')
    await saveLink(page, 'https://example.org/early')
    await page.getByRole('link', { name: 'Early · example.org' }).waitFor()
    await garner.stop()
    await page.getByText('Garner does not answer.').waitFor()
    await page.getByRole('link', { name: 'Early · example.org' }).waitFor()
    await saveLink(page, 'https://example.org/kept')
    await rowWith(page, '/kept').getByText('Kept on this device.').waitFor()

    const port = new URL(garner.url).port
    const again = await startGarner({ args: ['all', '--demo', '--port', port], dataDir })
    await save(again, { url: 'https://example.org/from-bob' }, { user: 'bob' })
    await page.getByText('Garner does not answer.').waitFor({ state: 'detached' })
    await isLive(page)
    await page.getByRole('link', { name: 'Kept · example.org' }).waitFor()
    await page.getByText('3 links, 3 unread by you').waitFor()
    await soon(async () => (await urls(again)).toSorted()).toEqual([
      'https://example.org/early',
      'https://example.org/from-bob',
      'https://example.org/kept',
    ])
    expect(await page.evaluate('window.isTheSamePage')).toBe(true)
  })
})
