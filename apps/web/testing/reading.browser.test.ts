import { describe, expect, test } from 'vitest'
import { chromiumPath, paste, row, stageForFile, type Visit } from './browser.ts'
import { PEOPLE } from './fake-people.ts'
import { type FakeState, linkOf, studyGroup } from './fake-state.ts'

/** Runs in the page: what of these a toast lies on, which there has to be. */
function under(selector: string): string[] {
  const toast = document.querySelector('.toast')?.getBoundingClientRect()
  if (!toast) return ['there is no toast']
  const lain = [...document.querySelectorAll(selector)].filter((one) => {
    const { top, bottom, left, right, width } = one.getBoundingClientRect()
    const isBeside = right <= toast.left || toast.right <= left || bottom <= toast.top || toast.bottom <= top
    return width > 0 && !isBeside
  })
  return lain.map((one) => one.outerHTML.slice(0, 120))
}

describe.skipIf(chromiumPath === null)('reading, in a browser', { timeout: 30_000 }, () => {
  const openStage = stageForFile()
  let visit: Visit

  const open = async (state: FakeState = studyGroup(Date.now()), look = {}) => {
    visit = await openStage(state, look)
    await visit.page
      .getByText('Paste a link')
      .or(visit.page.getByPlaceholder('Paste a link'))
      .first()
      .waitFor()
    return visit
  }
  const box = () => visit.page.getByLabel('Link to save for Study group')
  const save = async (url: string) => {
    await box().fill(url)
    await box().press('Enter')
  }
  const saves = () =>
    visit.fake.requests.filter((one) => one.method === 'POST' && one.path === '/api/bookmarks')

  test('a saved link is a hatched row at once, its title arrives by itself, and Undo takes it back', async () => {
    const { page, fake } = await open()
    await save('https://example.org/fresh')
    await page.getByText('Saved to Study group').waitFor()
    const fresh = page.getByRole('listitem').filter({ hasText: 'example.org/fresh' })
    await fresh.getByText('Title on its way').waitFor()
    expect(await box().inputValue()).toBe('')

    const link = fake.state.links.at(-1)
    Object.assign(link ?? {}, { title: 'A fresh page', title_status: 'ready' })
    fake.tell('bookmark', { group: 'study', id: link?.id, version: 1 })
    await page.getByRole('link', { name: 'A fresh page' }).waitFor()

    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByRole('link', { name: 'A fresh page' }).waitFor({ state: 'detached' })
    expect(fake.state.links.some((one) => one.url === 'https://example.org/fresh')).toBe(false)
  })

  test('a page that is already there is shown, and saved again only on purpose', async () => {
    const { page, fake } = await open()
    await save('https://en.wikipedia.org/wiki/Cache_stampede')
    await page.getByText(/^Already here: Mei saved it /).waitFor()
    await page.getByRole('button', { name: 'Show it' }).click()
    await page.locator('[data-link="l3"].flash').waitFor()

    await save('https://en.wikipedia.org/wiki/Cache_stampede')
    await page.getByRole('button', { name: 'Save anyway' }).click()
    await page.getByText('Saved to Study group').waitFor()
    expect(fake.state.links.filter((one) => one.url.endsWith('Cache_stampede'))).toHaveLength(2)
    const keys = saves().map((one) => one.headers['idempotency-key'])
    expect(new Set(keys).size).toBe(3)
  })

  test('what is not a link stays in the box, with the reason', async () => {
    const { page } = await open()
    await save('not a link')
    await page.getByText('That is not a link Garner can open. It must start with http or https.').waitFor()
    expect(await box().inputValue()).toBe('not a link')
    expect(saves()).toHaveLength(0)
  })

  test('with the queue full the link stays in the box and goes up by itself, under the same key', async () => {
    const { page, fake } = await open()
    fake.refuse('POST /api/bookmarks', { status: 429, headers: { 'Retry-After': '1' }, times: 2 })
    await save('https://example.org/later')
    await page.getByText('The queue is full, so this link is not saved yet.').waitFor()
    expect(await box().inputValue()).toBe('https://example.org/later')
    await page.getByText('Saved to Study group').waitFor()
    expect(await box().inputValue()).toBe('')
    expect(new Set(saves().map((one) => one.headers['idempotency-key'])).size).toBe(1)
    expect(saves()).toHaveLength(3)
  })

  test('a toast lies on nothing that can be pressed, however much the save box has to say', async () => {
    const { page, fake } = await open(studyGroup(Date.now(), 20))
    await save('https://en.wikipedia.org/wiki/Cache_stampede')
    await page.getByText(/^Already here: Mei saved it /).waitFor()
    fake.refuse('POST /api/bookmarks', { status: 429, headers: { 'Retry-After': '600' }, times: 1 })
    await save('https://example.org/later')
    await page.getByText('The queue is full, so this link is not saved yet.').waitFor()
    const menus = page.getByRole('button', { name: /^More for / })
    for (const width of [1440, 900, 390, 320]) {
      await page.setViewportSize({ width, height: 700 })
      // With the focus in it, it stays.
      await page.getByRole('button', { name: 'Show it' }).focus()
      expect(await page.evaluate(under, '.save, .tabs, .me'), `${width} px`).toEqual([])
      if (width >= 900) expect(await page.evaluate(under, '.row')).toEqual([])
      // On phones rows go on behind it, as behind the save box. What the keyboard goes to comes out, and the last one, too.
      for (let n = 0; n < 5; n += 1) {
        await menus.nth(n).focus()
        expect(await page.evaluate(under, ':focus'), `${width} px, row ${n}`).toEqual([])
      }
      await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight))
      await page.getByText('That is all of them.').waitFor()
      await expect.poll(() => page.evaluate(under, '.row button')).toEqual([])
      await page.evaluate(() => scrollTo(0, 0))
    }
  })

  test('a pasted link is saved from anywhere, one after the other', async () => {
    const { page, fake } = await open()
    await paste(page, ' https://example.org/one ')
    await paste(page, 'https://example.org/two')
    await expect
      .poll(() => fake.state.links.map((one) => one.url))
      .toEqual(expect.arrayContaining(['https://example.org/one', 'https://example.org/two']))
  })

  test('busy: hatched rows before anything was seen, the last list with its reason after', async () => {
    const { page, fake } = await open()
    fake.refuse('GET /api/bookmarks', { status: 503, headers: { 'Retry-After': '1' }, times: 2 })
    fake.tell('list', { group: 'study', version: 11 })
    await page.getByText('Below is what you saw last. Saving still works.').waitFor()
    await row(page, 'l3').waitFor()
    await page.getByText('Busy right now').waitFor({ state: 'detached' })

    fake.refuse('GET /api/bookmarks', { status: 503, headers: { 'Retry-After': '1' }, times: 1 })
    await page.reload()
    await page.getByText('Busy right now, trying again').waitFor()
    expect(await page.locator('.waiting .row').count()).toBe(6)
    await row(page, 'l3').waitFor()
  })

  test('offline: links are kept on the device and go up once, by themselves', async () => {
    const { page, fake, context } = await open()
    await context.setOffline(true)
    await page.getByText('You are offline.').waitFor()
    await save('https://martin.example/retries')
    await page.getByText('Kept on this device. Goes up when you are online.').first().waitFor()
    await page.getByText('1 is waiting.').waitFor()
    await page.getByText('Offline, 1 waiting').waitFor()
    expect(saves()).toHaveLength(0)

    await context.setOffline(false)
    await page.getByText('Kept on this device.').waitFor({ state: 'detached' })
    await page.getByRole('listitem').filter({ hasText: 'martin.example/retries' }).waitFor()
    expect(fake.state.links.filter((one) => one.url.includes('martin.example'))).toHaveLength(1)
  })

  test('no answer: the link is kept and sent again by itself; a refusal for good stays with its reason', async () => {
    const { page, fake } = await open()
    fake.setDown(true)
    await save('https://example.org/unsure')
    await page.getByText('Garner does not answer.').waitFor()
    fake.refuse('POST /api/bookmarks', { status: 400, detail: 'No such thing.', times: 1 })
    fake.setDown(false)
    await page.getByText('Not saved. No such thing.').waitFor()
    await page.getByRole('button', { name: 'Remove example.org/unsure' }).click()
    await page.getByText('Not saved.').waitFor({ state: 'detached' })
  })

  test('a change that crossed another is shown side by side, and nothing is lost', async () => {
    const { page, fake } = await open()
    const link = fake.state.links.find((one) => one.id === 'l7')
    Object.assign(link ?? {}, { note: 'For Tuesday. Read the table.' })
    await page.reload()
    await page.getByRole('button', { name: 'More for RFC 9457' }).click()
    await page.getByRole('menuitem', { name: 'Edit note' }).click()
    await page.getByLabel('Note for everyone').fill('For Tuesday. Read the table. Bring the drawing.')
    Object.assign(link ?? {}, {
      note: 'For Thursday. Read the table.',
      version: 2,
      edited_by: PEOPLE.mei,
      edited_at: new Date().toISOString(),
    })
    await page.getByRole('button', { name: 'Save', exact: true }).last().click()
    const conflict = page.getByRole('form', { name: 'Two versions of the note' })
    await conflict.getByText(/^Mei changed this note at \d\d:\d\d, while you were writing\./).waitFor()
    expect(await conflict.locator('mark').allTextContents()).toEqual(['Thursday'])
    await conflict.getByRole('button', { name: 'Put both together' }).click()
    expect(await conflict.getByLabel('Your draft').inputValue()).toBe(
      'For Thursday. Read the table.\nFor Tuesday. Read the table. Bring the drawing.',
    )
    await page.reload()
    await conflict.getByRole('button', { name: 'Save my draft' }).click()
    await conflict.waitFor({ state: 'detached' })
    expect(link?.note).toContain('Bring the drawing.')
    expect(link?.version).toBe(3)
  })

  test('a long list is windowed, comes in pages, and never jumps when links arrive', async () => {
    const { page, fake } = await open(studyGroup(Date.now(), 200))
    await row(page, 'l3').waitFor()
    await page.getByRole('button', { name: 'Show 50 more' }).click()
    await page.mouse.wheel(0, 3_000)
    // Until it stands still: a row that is chosen on the way may have left the window when it is looked at.
    let lastY = 0
    await expect
      .poll(async () => {
        const y = await page.evaluate(() => scrollY)
        const isStill = y === lastY
        lastY = y
        return isStill && y > 2_000
      })
      .toBe(true)
    expect(await page.locator('.row').count()).toBeLessThan(60)

    const name = await page.locator('[data-link^="m"]').nth(8).getAttribute('data-link')
    const before = (await row(page, name ?? '').boundingBox())?.y
    for (const id of ['x1', 'x2', 'x3']) {
      fake.state.links.push(
        linkOf({ id, url: `https://example.org/${id}`, owner: PEOPLE.bob, savedAtMs: Date.now() + 1_000 }),
      )
      fake.tell('bookmark', { group: 'study', id, version: 1 })
    }
    const newer = page.getByRole('button', { name: '3 new links' })
    await newer.waitFor()
    expect((await row(page, name ?? '').boundingBox())?.y).toBe(before)

    await save('https://example.org/mine-from-below')
    await page.getByText('Saved to Study group').waitFor()
    // Within a line: a row above that was never in view stands there by its estimated height, which may be a line off.
    await expect
      .poll(async () => Math.abs(((await row(page, name ?? '').boundingBox())?.y ?? 0) - (before ?? 0)))
      .toBeLessThan(24)

    await newer.click()
    await row(page, 'x3').waitFor()
    expect(await page.evaluate(() => scrollY)).toBe(0)
  })

  test('put out of the group, the list leaves the screen', async () => {
    const { page, fake } = await open()
    await row(page, 'l3').waitFor()
    const study = fake.state.groups[0]
    if (study) study.members = study.members.filter((one) => one !== 'alice')
    fake.tell('group', { group: 'study' })
    await page
      .getByText('You are no longer in Study group. Ask one of its members if that is a mistake.')
      .waitFor()
    expect(await page.locator('.row').count()).toBe(0)
    await page.getByRole('main').getByRole('link', { name: 'Family' }).click()
    await page.getByRole('heading', { name: 'Family' }).waitFor()
  })

  test('the keys do what their sheet says, and nothing inside a field', async () => {
    const { page, fake } = await open()
    await row(page, 'l1').waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await page.keyboard.press('k')
    expect(await page.locator('.row[aria-current]').getAttribute('data-link')).toBe('l2')
    expect(await page.evaluate(() => document.activeElement?.getAttribute('href'))).toContain('time-clocks')
    await page.keyboard.press('m')
    await row(page, 'l2')
      .getByRole('button', { name: /^Mark as unread/ })
      .waitFor()
    await expect.poll(() => fake.state.links.find((one) => one.id === 'l2')?.readers).toContain('alice')
    await page.keyboard.press('i')
    await page.getByRole('complementary').getByRole('heading', { name: 'The title' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('complementary').waitFor({ state: 'detached' })
    await page.keyboard.press('/')
    await page.keyboard.type('jm?')
    expect(await box().inputValue()).toBe('jm?')
    await page.keyboard.press('Escape')
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keys' }).waitFor()
    await page.keyboard.press('Escape')
    await page.keyboard.press('g')
    await page.keyboard.press('s')
    await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor()
    await page.getByRole('switch', { name: 'Single-key shortcuts' }).uncheck()
    await page.keyboard.press('g')
    await page.keyboard.press('r')
    expect(page.url()).toContain('/settings')
  })

  test('a stale copy says how old it is and catches up by itself', async () => {
    const { page, fake } = await open()
    fake.listHeaders = { 'Cache-Status': 'garner; hit; ttl=-16', Age: '18' }
    fake.tell('list', { group: 'study', version: 11 })
    if (fake.state.groups[0]) fake.state.groups[0].version = 11
    await page
      .getByText(/^You are seeing the list from \d\d:\d\d:\d\d, \d+ s ago\. It catches up by itself\./)
      .waitFor()
    fake.listHeaders = {}
    await page.getByText('You are seeing the list from').waitFor({ state: 'detached' })
  })

  test('without a stream the version is asked for, and the rail says so', async () => {
    const state = studyGroup(Date.now())
    visit = await openStage(state, { path: '/join' })
    const { page, fake } = visit
    fake.setSilent(true)
    await page.clock.install()
    await page.goto(`${fake.url}/reading/study`)
    await row(page, 'l3').waitFor()
    await page.getByText('Catching up every 15 s').waitFor()
    const asked = () => fake.requests.filter((one) => one.path.startsWith('/api/bookmarks?')).length
    const before = asked()
    await page.clock.runFor(16_000)
    await expect.poll(asked).toBeGreaterThan(before)
    expect(
      fake.requests.findLast((one) => one.path.startsWith('/api/bookmarks?'))?.headers['if-none-match'],
    ).toBeTruthy()
  })

  test('what people and sites write is text, and only http links can be followed', async () => {
    const state = studyGroup(Date.now())
    state.links.push(
      linkOf({
        id: 'bad',
        url: 'javascript:alert(1)',
        title: '<img src=x onerror=alert(1)>',
        owner: PEOPLE.bob,
        savedAtMs: Date.now(),
      }),
    )
    const { page } = await open(state)
    await row(page, 'bad').getByText('<img src=x onerror=alert(1)>').waitFor()
    expect(await row(page, 'bad').getByRole('link').count()).toBe(0)
    expect(await page.locator('img').count()).toBe(0)
    await row(page, 'l11').getByText('<b>text, never markup</b>').waitFor()
  })

  test('opening a link marks it read', async () => {
    const { page, fake, context } = await open()
    await context.route('https://en.wikipedia.org/**', (route) => route.fulfill({ body: 'a page' }))
    const popup = page.waitForEvent('popup')
    await page.getByRole('link', { name: 'Cache stampede' }).click()
    await (await popup).close()
    await row(page, 'l3').getByRole('button', { name: 'Mark as unread: Cache stampede' }).waitFor()
    await expect.poll(() => fake.state.links.find((one) => one.id === 'l3')?.readers).toContain('alice')
  })

  test('searching asks the server once one stops typing; caught up and no match say so', async () => {
    const { page } = await open()
    await page.getByLabel('Search titles, notes and sites').fill('stampeed')
    await page.getByRole('heading', { name: 'No link matches “stampeed”' }).waitFor()
    await page.getByRole('button', { name: 'Clear the search' }).click()
    await row(page, 'l3').waitFor()
    for (const link of visit.fake.state.links) link.readers.push('alice')
    await page.getByRole('button', { name: /^Unread/ }).click()
    await page.getByRole('heading', { name: 'All caught up' }).waitFor()
    await page.getByRole('button', { name: 'Show all links' }).click()
    await row(page, 'l3').waitFor()
  })
})
