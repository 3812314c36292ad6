import { describe, expect, test } from 'vitest'
import { startGarner, tempDir } from '../system/garner.ts'
import { startSite } from '../system/site.ts'
import { ALICE, askForAnAccount, goTo, MEI, setUp, signIn } from './accounts.ts'
import {
  browserForFile,
  chromiumPath,
  goToGroup,
  groupHeading,
  rowWith,
  saveBox,
  saveLink,
  soon,
} from './browser.ts'

describe.skipIf(chromiumPath === null)('the first visits to a new Garner', { timeout: 180_000 }, () => {
  const open = browserForFile()

  test('set up, a link saved and its title come by itself, and all of it there after a restart', async () => {
    const site = await startSite()
    site.hold('/oolong')
    const dataDir = tempDir()
    const start = (port: string) =>
      startGarner({ args: ['all', '--port', port], dataDir, env: { GARNER_FETCH_ALLOW: site.host } })
    const garner = await start('0')
    const { page } = await open(garner.url)
    await setUp(page, ALICE, { group: 'Tea club' })
    await groupHeading(page, 'Tea club').waitFor()
    await page.getByRole('heading', { name: 'Nothing here yet' }).waitFor()

    await page.evaluate('window.isTheSamePage = true')
    await saveLink(page, `${site.url}/oolong`)
    const row = rowWith(page, '/oolong')
    await row.getByText('Title on its way').waitFor()
    await row.locator('.skeleton').waitFor()
    await page.getByText('Saved to Tea club').waitFor()
    await site.waiting('/oolong')
    site.release('/oolong', 'How oolong is made')
    await page.getByRole('link', { name: 'How oolong is made' }).waitFor()
    expect(await page.evaluate('window.isTheSamePage')).toBe(true)
    await soon(() => row.count()).toBe(0)
    expect(site.hits.get('/oolong')).toBe(1)

    await page.getByRole('button', { name: 'Mark as read: How oolong is made' }).click()
    await page.getByText('1 link, all read by you').waitFor()
    // The mark was shown before the server had it: the group's own count comes from there.
    await soon(async () => (await page.request.get(`${garner.url}/api/groups`)).text()).toContain(
      '"unread":0',
    )

    expect(await garner.stop()).toEqual({ code: 0, signal: null })
    const again = await start(new URL(garner.url).port)
    expect(again.url).toBe(garner.url)
    await page.reload()
    await groupHeading(page, 'Tea club').waitFor()
    await page.getByRole('link', { name: 'How oolong is made' }).waitFor()
    await page.getByRole('button', { name: 'Mark as unread: How oolong is made' }).waitFor()
    await page.getByText('1 link, all read by you').waitFor()
    await page.getByText('Live', { exact: true }).waitFor()
    expect(site.hits.get('/oolong')).toBe(1)
  })

  test('who asks to come in waits at the door; let in, she reads one list with the others, with marks of her own', async () => {
    const site = await startSite()
    const garner = await startGarner({ args: ['all'], env: { GARNER_FETCH_ALLOW: site.host } })
    const alice = (await open(garner.url)).page
    await setUp(alice, ALICE)
    await saveBox(alice).waitFor()

    const mei = (await open(garner.url)).page
    await askForAnAccount(mei, MEI)
    await mei.getByRole('heading', { level: 1, name: 'Almost in, Mei Tanaka' }).waitFor()
    await mei.evaluate('window.isTheSamePage = true')
    await goTo(alice, 'Settings')
    await alice.getByRole('button', { name: 'Let in Mei Tanaka' }).click()
    await alice.getByText('Mei Tanaka is in').waitFor()
    await saveBox(mei).waitFor()
    expect(await mei.evaluate('window.isTheSamePage')).toBe(true)

    await alice.getByRole('button', { name: 'New group' }).click()
    await alice.getByLabel('Name', { exact: true }).fill('Study group')
    await alice.keyboard.press('Enter')
    await groupHeading(alice, 'Study group').waitFor()
    await saveLink(alice, `${site.url}/queues`)
    await alice.getByRole('link', { name: 'Title of /queues' }).waitFor()
    await goTo(alice, 'Settings')
    await alice.getByRole('button', { name: 'Members of Study group' }).click()
    await alice.getByLabel('Add someone by their email').fill(MEI.email)
    await alice.getByRole('button', { name: 'Add', exact: true }).click()
    await alice.getByText('Mei Tanaka is in Study group').waitFor()

    await goToGroup(mei, 'Study group')
    await mei.getByRole('link', { name: 'Title of /queues' }).waitFor()
    await saveLink(mei, `${site.url}/caches`)
    await mei.getByRole('link', { name: 'Title of /caches' }).waitFor()
    // It came while he was elsewhere, and waits above the list, so that nothing moves under a reader.
    await goTo(alice, 'Reading')
    await alice.getByRole('button', { name: '1 new link' }).click()
    await alice.getByRole('link', { name: 'Title of /caches' }).waitFor()
    for (const page of [alice, mei]) await page.getByText('2 links, 2 unread by you').waitFor()

    // Her mark is hers: his list still counts two unread, and does not say who has read it.
    await mei.getByRole('button', { name: 'Mark as read: Title of /queues' }).click()
    await mei.getByText('2 links, 1 unread by you').waitFor()
    await soon(async () => (await mei.request.get(`${garner.url}/api/groups`)).text()).toContain('"unread":1')
    await alice.reload()
    await alice.getByRole('button', { name: 'Mark as read: Title of /queues' }).waitFor()
    await alice.getByText('2 links, 2 unread by you').waitFor()
    expect(await alice.getByText('read by', { exact: true }).count()).toBe(0)

    // She agrees to be shown, and only then, and without a reload, the others see it.
    await goTo(mei, 'Settings')
    await mei.getByRole('switch', { name: 'Show the others which links I have read' }).check()
    await rowWith(alice, 'Title of /queues').getByRole('img', { name: 'Read by Mei Tanaka' }).waitFor()
    expect(await rowWith(alice, 'Title of /caches').getByRole('img').count()).toBe(0)
    await mei.getByRole('switch', { name: 'Show the others which links I have read' }).uncheck()
    await rowWith(alice, 'Title of /queues').getByRole('img').waitFor({ state: 'detached' })
  })

  test('signed out, a wrong password is told in words, and the right one opens the list again', async () => {
    const site = await startSite()
    const garner = await startGarner({ args: ['all'], env: { GARNER_FETCH_ALLOW: site.host } })
    const { page } = await open(garner.url)
    await setUp(page, ALICE, { group: 'Tea club' })
    await groupHeading(page, 'Tea club').waitFor()
    await saveLink(page, `${site.url}/sencha`)
    await page.getByRole('link', { name: 'Title of /sencha' }).waitFor()
    await goTo(page, 'Settings')
    await page.getByRole('button', { name: 'Sign out' }).click()

    await signIn(page, { email: ALICE.email, password: 'coffee after the bus' })
    await page.getByText('That email and password do not go together.').waitFor()
    expect(await page.getByLabel('Email').inputValue()).toBe(ALICE.email)
    expect(await page.getByText('sencha').count()).toBe(0)
    await page.goto(`${garner.url}/settings`)
    await signIn(page, ALICE)
    await goTo(page, 'Reading')
    await page.getByRole('link', { name: 'Title of /sencha' }).waitFor()
  })
})
