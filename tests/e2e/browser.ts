/**
 * People in a real browser before a real Garner: one Chromium a file, one context a person, all closed by themselves.
 *
 * Every visit writes down what a page should not do (throw, complain on its console, open a dialog, ask another
 * origin), and after each test nothing of that may have happened.
 */
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Browser, type BrowserContext, chromium, type Locator, type Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'

const PLACES = [
  process.env.CHROMIUM ?? '',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]

/** Where a Chromium is, or null: then the tests that need one say so and are left out. */
export const chromiumPath: string | null = PLACES.find((path) => path !== '' && existsSync(path)) ?? null
if (chromiumPath === null) {
  console.warn(
    'No chromium found (CHROMIUM, /usr/bin/chromium): the tests of Garner in a browser are left out.',
  )
}

const CLIENT = fileURLToPath(new URL('../../apps/web/dist/index.html', import.meta.url))

/** Pictures for people; not committed, and compared by nobody but them. */
export const SHOTS = fileURLToPath(new URL('../../test-results/e2e', import.meta.url))

const ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** A page shows its answer within a moment; on a machine that does much else at once, within this. */
export const PATIENCE_MS = 30_000

export interface Look {
  width?: number
  height?: number
  scheme?: 'light' | 'dark'
  /** Where to begin, `/` unless told. */
  path?: string
  /** In demo mode, who to be: chosen on the page, as a person does. */
  as?: 'Alice' | 'Bob' | 'Carol' | 'Admin'
}

export interface Visit {
  page: Page
  context: BrowserContext
  /** What the page threw, and what stood in its console as an error, answers that say no excepted. */
  errors: string[]
  /** Answers that say no, as the console tells them. */
  refusals: string[]
  /** Requests of the page itself to anywhere but its own origin. */
  elsewhere: string[]
  /** Dialogs that scripts opened: alert, confirm, prompt. */
  dialogs: string[]
}

/** One browser for the file; call it once, inside the describe. The function that is answered opens Garner in it. */
export function browserForFile(): (url: string, look?: Look) => Promise<Visit> {
  let browser: Browser
  const visits = new Set<Visit>()

  beforeAll(async () => {
    if (!existsSync(CLIENT))
      throw new Error('The client is not built: `npm test` builds it, as does `npm start`.')
    browser = await chromium.launch({ executablePath: chromiumPath ?? '', args: ARGS })
  }, 60_000)
  afterEach(async ({ task }) => {
    if (task.result?.state === 'fail') await picture([...visits], task.name)
    const misdeeds = [...visits].flatMap((one) => [...one.errors, ...one.elsewhere, ...one.dialogs])
    for (const { context } of visits) await context.close()
    visits.clear()
    expect(misdeeds).toEqual([])
  })
  afterAll(() => browser?.close())

  return async (url, look = {}) => {
    const { width = 1440, height = 900, scheme = 'light', path = '/' } = look
    const context = await browser.newContext({
      viewport: { width, height },
      colorScheme: scheme,
      reducedMotion: 'reduce',
      locale: 'en-GB',
      timezoneId: 'Europe/Berlin',
    })
    const page = await context.newPage()
    page.setDefaultTimeout(PATIENCE_MS)
    const visit: Visit = { page, context, errors: [], refusals: [], elsewhere: [], dialogs: [] }
    visits.add(visit)
    page.on('pageerror', (error) => visit.errors.push(error.message))
    page.on('console', (message) => {
      if (message.type() !== 'error') return
      const isRefusal = message.text().startsWith('Failed to load resource')
      visit[isRefusal ? 'refusals' : 'errors'].push(message.text())
    })
    page.on('request', (request) => {
      if (new URL(request.url()).origin !== url) visit.elsewhere.push(request.url())
    })
    page.on('dialog', (dialog) => {
      visit.dialogs.push(dialog.message())
      void dialog.dismiss()
    })
    await page.goto(url + path)
    if (look.as) await page.getByRole('button', { name: look.as }).click()
    return visit
  }
}

/** What each person saw when a test failed, for whoever looks into it. */
async function picture(visits: Visit[], test: string): Promise<void> {
  const name = test.replace(/[^a-z0-9]+/gi, '-').slice(0, 60)
  for (const [i, { page }] of visits.entries()) {
    const path = `${SHOTS}/failed-${name}-${i + 1}.png`
    await page.screenshot({ path, timeout: 5_000 }).catch(() => {})
  }
}

/** The box that links go into, whatever the group is called. */
export const saveBox = (page: Page): Locator => page.getByLabel(/^Link to save for /)

/** Types a link into the box and presses Enter. */
export async function saveLink(page: Page, url: string): Promise<void> {
  await saveBox(page).fill(url)
  await saveBox(page).press('Enter')
}

/** The row of a link, found by any of its words. */
export const rowWith = (page: Page, words: string | RegExp): Locator =>
  page.locator('li.row').filter({ hasText: words })

/** Opens the menu of a row and takes one of its entries. */
export async function choose(page: Page, row: Locator, entry: string): Promise<void> {
  await row.getByRole('button', { name: /^More for / }).click()
  await page.getByRole('menuitem', { name: entry, exact: true }).click()
}

/** The switch between groups, which is the page's heading. */
export const groupHeading = (page: Page, name: string): Locator =>
  page.getByRole('heading', { level: 1 }).getByRole('button', { name })

/** Goes to another group by the heading. */
export async function goToGroup(page: Page, name: string): Promise<void> {
  await page.getByRole('heading', { level: 1 }).getByRole('button').click()
  await page.getByRole('menuitemradio', { name }).click()
  await groupHeading(page, name).waitFor()
}

/** Waits until a look at the page, or anywhere, gives what is expected. */
export const soon = <T>(look: () => T | Promise<T>) =>
  expect.poll(look, { timeout: PATIENCE_MS, interval: 50 })
