import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { call, list, save } from '../system/api.ts'
import { type GarnerProcess, startGarner } from '../system/garner.ts'
import { startSite } from '../system/site.ts'
import {
  browserForFile,
  choose,
  chromiumPath,
  goToGroup,
  groupHeading,
  rowWith,
  saveBox,
  saveLink,
  soon,
} from './browser.ts'
import { emptyTheList, pasteFromClipboard } from './list.ts'

describe.skipIf(chromiumPath === null)('reading together, in a browser', { timeout: 180_000 }, () => {
  const open = browserForFile()
  let garner: GarnerProcess

  beforeAll(async () => {
    garner = await startGarner({
      env: { GARNER_FETCH_ALLOW: '127.0.0.1', GARNER_RETRY_BASE_S: '0.05' },
      lifetime: 'file',
    })
  }, 60_000)
  beforeEach(() => emptyTheList(garner))

  const reading = async (as: 'Alice' | 'Bob' = 'Alice') => {
    const { page } = await open(garner.url, { as })
    await groupHeading(page, 'Study group').waitFor()
    await page.getByText('Live', { exact: true }).waitFor()
    return page
  }

  test('a saved link is there at once with its title to come, and Undo takes it back', async () => {
    const page = await reading()
    await saveLink(page, 'https://example.org/notes/tea-ceremony.html')
    await page.getByText('Saved to Study group').waitFor()
    await page.getByRole('link', { name: 'Tea ceremony · example.org' }).waitFor()
    expect(await saveBox(page).inputValue()).toBe('')
    expect(await list(garner)).toHaveLength(1)
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByRole('heading', { name: 'Nothing here yet' }).waitFor()
    expect(await list(garner)).toEqual([])
  })

  test('a page that is already there is shown, and saved again only on purpose', async () => {
    await save(garner, { url: 'https://example.org/queueing?utm_source=mail' }, { user: 'bob' })
    const page = await reading()
    await saveLink(page, 'https://example.org/queueing')
    await page.getByText(/^Already here: Bob saved it (today|yesterday) at \d\d:\d\d$/).waitFor()
    expect(await saveBox(page).inputValue()).toBe('')
    await page.getByRole('button', { name: 'Show it' }).click()
    await page.locator('li.row.flash').waitFor()
    expect(await list(garner)).toHaveLength(1)

    await saveLink(page, 'https://example.org/queueing')
    await page.getByRole('button', { name: 'Save anyway' }).click()
    await page.getByText('Saved to Study group').waitFor()
    await soon(() => page.locator('li.row').count()).toBe(2)
    expect(await list(garner)).toHaveLength(2)
  })

  test('what is not a link stays in the box with the reason', async () => {
    const page = await reading()
    for (const words of ['tea at four', 'javascript:alert(1)', 'ftp://example.org/file']) {
      await saveLink(page, words)
      await page
        .getByRole('alert')
        .getByText('That is not a link Garner can open. It must start with http or https.')
        .waitFor()
      expect(await saveBox(page).inputValue()).toBe(words)
    }
    expect(await list(garner)).toEqual([])
  })

  test('a title that will not come says why, what is safe, and what one may do', async () => {
    const site = await startSite({
      '/gone': (answer) => answer.writeHead(404, { 'content-type': 'text/html' }).end('<title>Oh no</title>'),
      '/members': (answer) => answer.writeHead(401, { 'content-type': 'text/html' }).end('<title>In</title>'),
      '/data': (answer) => answer.writeHead(200, { 'content-type': 'application/json' }).end('{"title": 1}'),
      '/bare': (answer) => answer.writeHead(200, { 'content-type': 'text/html' }).end('<p>Without a title'),
    })
    await save(garner, { url: 'https://example.org/slow-site', title_mode: 'timeout' })
    for (const path of ['/gone', '/members', '/data', '/bare']) await save(garner, { url: site.url + path })
    await save(garner, { url: 'http://10.1.2.3/router' })
    const page = await reading()

    const ends = [
      ['/slow-site', 'The site took too long to answer. The link is safe.', ['Try again']],
      ['/gone', 'No title: there is no such page.', ['Write a title', 'Try again']],
      ['/members', 'No title: the site asks for a sign-in.', ['Write a title', 'Try again']],
      ['/bare', 'The page has no title.', ['Write a title']],
      ['/router', 'No title: private addresses are not fetched.', ['Write a title']],
    ] as const
    for (const [words, state, actions] of ends) {
      const row = rowWith(page, words)
      await row.getByText(state).waitFor()
      const offered = await row.locator('.act > button.btn').allTextContents()
      expect(offered.map((text) => text.trim())).toEqual(actions)
    }
    await rowWith(page, 'No title: it is not a web page.').getByText('data', { exact: true }).waitFor()

    // The timed-out one again: on its way at once, and calm in the end.
    const slow = rowWith(page, '/slow-site')
    await slow.getByRole('button', { name: 'Try again: example.org/slow-site' }).click()
    await slow.locator('.skeleton').waitFor()
    await slow.getByText('The site took too long to answer. The link is safe.').waitFor()
  })

  test('a title written by hand stays whatever the site says, and goes when it is taken away', async () => {
    const site = await startSite()
    await save(garner, { url: `${site.url}/page` })
    const [alice, bob] = [await reading(), await reading('Bob')]
    await alice.getByRole('link', { name: 'Title of /page' }).waitFor()
    await choose(alice, rowWith(alice, 'Title of /page'), 'Write a title')
    await alice.getByRole('dialog').getByLabel('Title').fill('What Ana said about tea')
    await alice.keyboard.press('Enter')
    await rowWith(alice, 'What Ana said about tea').getByText('title by you').waitFor()
    await rowWith(bob, 'What Ana said about tea').getByText('title by Alice').waitFor()

    const looks = site.hits.get('/page') ?? 0
    await choose(alice, rowWith(alice, 'What Ana said'), 'Look for the title again')
    await soon(() => site.hits.get('/page')).toBe(looks + 1)
    await site.answered('/page')
    await soon(async () => (await list(garner))[0]?.title).toBe('What Ana said about tea')

    await choose(alice, rowWith(alice, 'What Ana said'), 'Write a title')
    await alice.getByRole('dialog').getByLabel('Title').fill('')
    await alice.keyboard.press('Enter')
    for (const page of [alice, bob]) {
      await page.getByRole('link', { name: 'Title of /page' }).waitFor()
      await page.getByText(/title by/).waitFor({ state: 'detached' })
    }
  })

  test('a note is written from the toast and read by the others', async () => {
    const [alice, bob] = [await reading(), await reading('Bob')]
    await saveLink(alice, 'https://example.org/leases')
    await alice.getByRole('button', { name: 'Add a note' }).click()
    await alice.getByLabel('Note for everyone').fill('For Tuesday.\nRead the table first.')
    await alice.keyboard.press('Control+Enter')
    await alice.getByRole('dialog').waitFor({ state: 'detached' })
    for (const page of [alice, bob]) {
      await rowWith(page, 'Leases').getByText('For Tuesday. Read the table first.').waitFor()
    }
  })

  test('two versions of a note: one draft is kept until its writer chooses', async () => {
    const item = await save(garner, { url: 'https://example.org/clocks', note: 'First words' })
    const [here, there] = [await reading(), await reading()]
    const edit = async (page: typeof here, note: string) => {
      await choose(page, rowWith(page, 'Clocks'), 'Edit note')
      await page.getByRole('dialog').getByLabel('Note for everyone').fill(note)
    }
    const noteThere = async () => (await list(garner)).map((one) => (one as { note?: string }).note)

    await edit(here, 'Words from here')
    await edit(there, 'Words from there')
    await there.keyboard.press('Control+Enter')
    await soon(noteThere).toEqual(['Words from there'])
    await here.keyboard.press('Control+Enter')
    const conflict = here.getByRole('form', { name: 'Two versions of the note' })
    await conflict.getByText(/^You changed this note at \d\d:\d\d somewhere else, while you were/).waitFor()
    await conflict.getByText('Nothing is lost: your draft is kept until you choose.').waitFor()
    expect(await conflict.getByRole('blockquote').textContent()).toBe('Words from there')
    expect(await conflict.getByLabel('Your draft').inputValue()).toBe('Words from here')
    await here.reload()
    await conflict.getByRole('button', { name: 'Save my draft' }).click()
    await soon(noteThere).toEqual(['Words from here'])
    await conflict.waitFor({ state: 'detached' })
    await rowWith(there, 'Words from here').waitFor()

    await edit(here, 'Third words from here')
    await edit(there, 'Third words from there')
    await there.keyboard.press('Control+Enter')
    await soon(noteThere).toEqual(['Third words from there'])
    await here.keyboard.press('Control+Enter')
    await conflict.getByRole('button', { name: 'Keep the one in the list' }).click()
    await conflict.waitFor({ state: 'detached' })
    await rowWith(here, 'Third words from there').waitFor()
    expect((await call(`${garner.url}/api/bookmarks/${item.id}`)).body.note).toBe('Third words from there')
  })

  test('a deleted link goes for everyone, once one has said so twice', async () => {
    const item = await save(garner, { url: 'https://example.org/old-news' })
    const [alice, bob] = [await reading(), await reading('Bob')]
    await rowWith(bob, 'Old news').waitFor()
    await bob.getByRole('button', { name: /^More for Old news/ }).click()
    expect(await bob.getByRole('menuitem', { name: 'Delete' }).count()).toBe(0)
    await choose(alice, rowWith(alice, 'Old news'), 'Delete')
    const dialog = alice.getByRole('dialog', { name: 'Delete this link?' })
    await dialog.getByText('It goes for everyone in the group').waitFor()
    await dialog.getByRole('button', { name: 'Delete' }).click()
    await alice.getByText('Deleted. Nothing of it is left here.').waitFor()
    for (const page of [alice, bob]) await rowWith(page, 'Old news').waitFor({ state: 'detached' })
    expect((await call(`${garner.url}/api/bookmarks/${item.id}`)).status).toBe(404)
  })

  test('the filters show what they count, everywhere the same, and the search finds notes and sites', async () => {
    await save(garner, { url: 'https://example.org/green-tea', note: 'with toasted rice' })
    await save(garner, { url: 'https://example.net/black-tea' })
    await save(garner, { url: 'https://example.com/coffee' }, { user: 'bob' })
    const page = await reading()
    const rows = () => page.locator('li.row').count()
    await page.getByText('3 links, 3 unread by you').waitFor()
    await page.getByRole('button', { name: /^Mark as read: Black tea/ }).click()
    await page.getByText('3 links, 2 unread by you').waitFor()

    await page.getByRole('button', { name: 'Unread 2' }).click()
    await soon(rows).toBe(2)
    await page.getByRole('link', { name: 'Reading 2 unread' }).waitFor()
    await page.getByRole('heading', { level: 1 }).getByRole('button').click()
    await page.getByRole('menuitemradio', { name: 'Study group 2 unread' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Mine 2' }).click()
    await soon(rows).toBe(2)
    expect(await rowWith(page, 'Coffee').count()).toBe(0)
    await page.getByRole('button', { name: 'All', exact: true }).click()
    await soon(rows).toBe(3)

    const search = page.getByLabel('Search titles, notes and sites')
    for (const [words, found] of [
      ['toasted', 'Green tea'],
      ['example.com', 'Coffee'],
      ['BLACK', 'Black tea'],
    ] as const) {
      await search.fill(words)
      await soon(rows).toBe(1)
      await rowWith(page, found).waitFor()
    }
    await search.fill('stampeed')
    await page.getByRole('heading', { name: 'No link matches “stampeed”' }).waitFor()
    await page.getByRole('button', { name: 'Clear the search' }).click()
    await soon(rows).toBe(3)
    for (const name of [/Green tea/, /Coffee/]) {
      await page.getByRole('button', { name: new RegExp(`^Mark as read: ${name.source}`) }).click()
    }
    await page.getByText('3 links, all read by you').waitFor()
    await page.getByRole('button', { name: 'Unread', exact: true }).click()
    await page.getByRole('heading', { name: 'All caught up' }).waitFor()
  })

  test('the keys do what their sheet says, and nothing inside a field', async () => {
    const site = await startSite()
    for (const path of ['/one', '/two', '/three']) await save(garner, { url: site.url + path })
    const page = await reading()
    for (const path of ['/one', '/two', '/three']) {
      await page.getByRole('link', { name: `Title of ${path}` }).waitFor()
    }
    const current = page.locator('li.row[aria-current] h3')
    for (const key of ['j', 'j', 'j', 'k']) await page.keyboard.press(key)
    await soon(() => current.textContent()).toBe('Title of /two')
    await page.keyboard.press('m')
    await page.getByRole('button', { name: 'Mark as unread: Title of /two' }).waitFor()
    await page.keyboard.press('m')
    await page.getByRole('button', { name: 'Mark as read: Title of /two' }).waitFor()
    const tab = page.context().waitForEvent('page')
    await page.keyboard.press('o')
    await soon(async () => (await tab).url()).toBe(`${site.url}/two`)
    await (await tab).close()
    await page.getByRole('button', { name: 'Mark as unread: Title of /two' }).waitFor()

    await page.keyboard.press('i')
    const details = page.getByRole('complementary', { name: 'Title of /two' })
    await details.getByText('Title found').waitFor()
    await page.keyboard.press('Escape')
    await details.waitFor({ state: 'detached' })
    await page.keyboard.press('e')
    await page.getByRole('dialog', { name: 'Edit' }).waitFor()
    await page.keyboard.type('jk')
    expect(await page.getByLabel('Note for everyone').inputValue()).toBe('jk')
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keys' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })

    await page.keyboard.press('/')
    await page.keyboard.type('m?')
    expect(await saveBox(page).inputValue()).toBe('m?')
    await page.keyboard.press('Escape')
    await page.keyboard.press('f')
    await page.locator('input:focus').waitFor()
    await page.keyboard.type('three')
    await soon(() => page.locator('li.row').count()).toBe(1)
    expect(await current.count()).toBe(0)
  })

  test('a link pasted outside every field is saved', async () => {
    const page = await reading()
    await pasteFromClipboard(page, '  https://example.org/pasted  ')
    await page.getByText('Saved to Study group').waitFor()
    await page.getByRole('link', { name: 'Pasted · example.org' }).waitFor()
    await pasteFromClipboard(page, 'only words')
    expect(await list(garner)).toHaveLength(1)
  })

  test('what one does, the other sees without a reload, and the page does not move under them', async () => {
    await save(garner, { url: 'https://example.org/first' })
    const [alice, bob] = [await reading(), await reading('Bob')]
    await rowWith(bob, 'First').waitFor()
    await saveLink(alice, 'https://example.org/second')
    await bob.getByRole('button', { name: '1 new link' }).click()
    await rowWith(bob, 'Second').waitFor()
    await bob.getByRole('button', { name: /^Mark as read: Second/ }).click()
    await rowWith(alice, 'Second').getByRole('img', { name: 'Read by Bob' }).waitFor()
    await alice.getByText('2 links, 2 unread by you').waitFor()
    await bob.getByText('2 links, 1 unread by you').waitFor()
  })

  test('taken out of a group, its list leaves the screen at once', async () => {
    const made = await call(`${garner.url}/api/groups`, { body: { name: 'Harbour walks' } })
    const group = made.body.id
    await call(`${garner.url}/api/groups/${group}/members`, { body: { user: 'bob' } })
    await save(garner, { url: 'https://example.org/pier', group })
    const bob = await reading('Bob')
    await goToGroup(bob, 'Harbour walks')
    await rowWith(bob, 'Pier').waitFor()
    await call(`${garner.url}/api/groups/${group}/members/bob`, { method: 'DELETE' })
    await bob
      .getByText('You are no longer in Harbour walks. Ask one of its members if that is a mistake.')
      .waitFor()
    expect(await bob.getByText('Pier').count()).toBe(0)
    await bob.getByRole('main').getByRole('link', { name: 'Study group' }).click()
    await groupHeading(bob, 'Study group').waitFor()
  })
})
