import { mkdirSync } from 'node:fs'
import { beforeAll, describe, test } from 'vitest'
import { call, list } from '../system/api.ts'
import { startGarner, until } from '../system/garner.ts'
import { startSite } from '../system/site.ts'
import { ALICE, askForAnAccount, goTo, MEI, setUp } from './accounts.ts'
import {
  browserForFile,
  choose,
  chromiumPath,
  groupHeading,
  PATIENCE_MS,
  rowWith,
  SHOTS,
  saveBox,
  saveLink,
} from './browser.ts'
import { expectQuietConsole, lookAt } from './look-at.ts'

describe.skipIf(chromiumPath === null)('how Garner looks, and who can use it', { timeout: 300_000 }, () => {
  const open = browserForFile()
  beforeAll(() => void mkdirSync(SHOTS, { recursive: true }))

  test('the door, an empty list, and the settings of the one who runs it', async () => {
    const garner = await startGarner({ args: ['all'] })
    const alice = await open(garner.url)
    await alice.page.getByRole('heading', { name: 'Set up your Garner' }).waitFor()
    await lookAt(alice.page, 'set-up', { isScreen: true })
    await setUp(alice.page, ALICE, { group: 'Study group' })
    await groupHeading(alice.page, 'Study group').waitFor()
    await lookAt(alice.page, 'empty', { isScreen: true })

    const mei = await open(garner.url)
    await mei.page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor()
    await mei.page.getByLabel('Email').fill('mei@example.org')
    await mei.page.getByLabel('Password', { exact: true }).fill('not this one, no')
    await mei.page.getByRole('button', { name: 'Sign in' }).click()
    await mei.page.getByText('That email and password do not go together.').waitFor()
    await lookAt(mei.page, 'sign-in', { isScreen: true })
    await askForAnAccount(mei.page, MEI)
    await mei.page.getByRole('heading', { level: 1, name: 'Almost in, Mei Tanaka' }).waitFor()
    await lookAt(mei.page, 'waiting', { isScreen: true })

    await goTo(alice.page, 'Settings')
    await alice.page.getByRole('button', { name: 'Let in Mei Tanaka' }).waitFor()
    await alice.page.getByRole('button', { name: 'Members of Study group' }).click()
    await alice.page.getByRole('button', { name: 'New token' }).click()
    await alice.page.getByLabel('What is it for?').fill('Weekly export')
    await alice.page.getByRole('button', { name: 'Make the token' }).click()
    await alice.page.getByText('Copy it now: it is shown once.').waitFor()
    await lookAt(alice.page, 'settings', { isScreen: true })
    await alice.page.getByRole('button', { name: 'Turn away Mei Tanaka' }).click()
    await mei.page.getByRole('heading', { name: 'This account was not let in' }).waitFor()
    await lookAt(mei.page, 'turned-away')
    // Nobody is signed in at the door, and it is told so.
    for (const visit of [alice, mei]) expectQuietConsole(visit, /status of 401/)
  })

  test('a list with rows in every state, what opens from it, and what stands above it in trouble', async () => {
    const page404 = 'text/html; charset=utf-8'
    const site = await startSite({
      '/gone': (answer) => answer.writeHead(404, { 'content-type': page404 }).end('<title>Oh no</title>'),
      '/members': (answer) => answer.writeHead(401, { 'content-type': page404 }).end('<title>In</title>'),
      '/annual-report.pdf': (answer) =>
        answer.writeHead(200, { 'content-type': 'application/pdf' }).end('%PDF-1.7'),
      '/long': (answer) =>
        answer
          .writeHead(200, { 'content-type': page404 })
          .end(`<title>${'A title that goes on about queues, leases and clocks '.repeat(5)}</title>`),
      '/hebrew': (answer) =>
        answer
          .writeHead(200, { 'content-type': page404 })
          .end('<title>שעונים ותורים במערכות מבוזרות</title>'),
    })
    site.hold('/on-its-way')
    site.hold('/busy')
    const garner = await startGarner({
      env: {
        GARNER_FETCH_ALLOW: '127.0.0.1',
        GARNER_RETRY_BASE_S: '0.05',
        GARNER_FETCH_DEADLINE_S: '120',
        GARNER_MAX_PENDING: '2',
      },
    })
    // Two may wait at once here, so that the full queue can be shown: each is saved when there is room.
    const put = (body: { url: string } & Record<string, unknown>, user = 'alice') =>
      until(
        async () => {
          const answer = await call(`${garner.url}/api/bookmarks`, {
            user,
            body: { group: 'study', ...body },
          })
          return answer.status === 201 && answer.body
        },
        { timeoutMs: PATIENCE_MS },
      )
    const read = (id: string, user: string) =>
      call(`${garner.url}/api/bookmarks/${id}/read`, { method: 'PATCH', user, body: { is_read: true } })
    await put({ url: 'https://example.org/notes/no-answer', title_mode: 'timeout' })
    await put({ url: `${site.url}/gone` })
    await put({ url: `${site.url}/members` })
    await put({ url: 'http://10.1.2.3/router' })
    await put({ url: `${site.url}/annual-report.pdf` })
    await put({ url: `${site.url}/long`, note: 'Start at the third part. '.repeat(12) })
    await put({ url: `${site.url}/hebrew`, note: 'הערה קצרה' }, 'bob')
    await put({ url: `https://example.com/${'very-long-address/'.repeat(20)}` }, 'bob')
    const everyone = await put({ url: 'https://en.wikipedia.org/wiki/Cache_stampede', note: 'For Tuesday.' })
    for (const user of ['alice', 'bob']) await read(everyone.id, user)
    const byHand = await put({ url: 'https://example.org/draft-7' })
    await call(`${garner.url}/api/bookmarks/${byHand.id}`, {
      method: 'PATCH',
      body: { version: 1, title: 'What Ana said about clocks', note: 'First words' },
    })
    await read(byHand.id, 'bob')
    await until(async () => (await list(garner)).every((one) => one.title_status !== 'pending'), {
      timeoutMs: PATIENCE_MS,
    })
    await put({ url: `${site.url}/on-its-way` })

    const visit = await open(garner.url)
    const { page } = visit
    await page.getByRole('heading', { name: 'Who would you like to be?' }).waitFor()
    await lookAt(page, 'demo')
    await page.getByRole('button', { name: 'Alice' }).click()
    await rowWith(page, '/on-its-way').locator('.skeleton').waitFor()
    await page.getByText('Live', { exact: true }).waitFor()
    await lookAt(page, 'reading', { isScreen: true })

    await rowWith(page, '/members').locator('.meta').click()
    await page.getByText('Garner stopped here.').waitFor()
    await lookAt(page, 'details', { isScreen: true })
    await page.keyboard.press('Escape')
    await page.getByText('Garner stopped here.').waitFor({ state: 'detached' })

    const clocks = rowWith(page, 'What Ana said about clocks')
    await lookAt(page, 'menu', {
      open: async () => {
        await clocks.getByRole('button', { name: /^More for / }).click()
        await page.getByRole('menuitem', { name: 'Details' }).waitFor()
      },
      close: () => page.keyboard.press('Escape'),
    })
    await choose(page, clocks, 'Delete')
    await lookAt(page, 'delete')
    await page.getByRole('button', { name: 'Keep it' }).click()
    await page.keyboard.press('?')
    await lookAt(page, 'keys')
    await page.keyboard.press('Escape')
    await choose(page, clocks, 'Edit note')
    await page.getByRole('dialog').getByLabel('Note for everyone').fill('Words of mine')
    await lookAt(page, 'edit')
    await call(`${garner.url}/api/bookmarks/${byHand.id}`, {
      method: 'PATCH',
      body: { version: 2, note: 'Words from the other window' },
    })
    await page.keyboard.press('Control+Enter')
    await page.getByRole('form', { name: 'Two versions of the note' }).waitFor()
    await lookAt(page, 'conflict')
    await page.getByRole('button', { name: 'Keep the one in the list' }).click()

    await saveLink(page, 'tea at four')
    await page.getByRole('alert').waitFor()
    await lookAt(page, 'bad-link')
    await saveLink(page, `${site.url}/busy`)
    await page.getByText('Saved to Study group').waitFor()
    await page.getByText('Saved to Study group').hover()
    await lookAt(page, 'saved')
    await saveLink(page, `${site.url}/no-room`)
    await page.getByText('The queue is full, so this link is not saved yet.').waitFor()
    await lookAt(page, 'queue-full')
    await saveBox(page).fill('')

    await page.getByLabel('Search titles, notes and sites').fill('stampeed')
    await page.getByRole('heading', { name: 'No link matches “stampeed”' }).waitFor()
    await lookAt(page, 'no-match')
    await page.getByRole('button', { name: 'Clear the search' }).click()
    await clocks.waitFor()
    await visit.context.setOffline(true)
    await saveLink(page, 'https://example.org/kept')
    await page.getByText('Kept on this device.').waitFor()
    await lookAt(page, 'offline')
    expectQuietConsole(visit, /status of (401|409|429)|ERR_INTERNET_DISCONNECTED/)
  })
})
