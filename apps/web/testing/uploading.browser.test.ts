import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { chromiumPath, stageForFile, type Visit } from './browser.ts'
import type { FakeEntry } from './fake-diary.ts'
import { studyGroup } from './fake-state.ts'
import { drag, onDisk, pastePicture, photo, takenAt, yesterday } from './pictures.ts'

/** Runs in the page: files are read once somebody says `read-on`. */
function holdReading(): void {
  const read = Blob.prototype.arrayBuffer
  Blob.prototype.arrayBuffer = async function (this: Blob) {
    await new Promise((resolve) => addEventListener('read-on', resolve, { once: true }))
    Blob.prototype.arrayBuffer = read
    return read.call(this)
  }
}

/** Runs in the page: whether it ever says this, however shortly. */
function noteWords(words: string): void {
  const look = () => {
    if (document.body.textContent?.includes(words)) document.documentElement.dataset.noted = words
  }
  new MutationObserver(look).observe(document.body, { childList: true, characterData: true, subtree: true })
}

const SEND = 'POST /api/auto-log'
const ALL_UP = 'All uploaded. It is safe to close.'
const [EARLY, NOON, LATE] = [takenAt('07:42'), takenAt('12:31'), takenAt('19:08')]

describe.skipIf(chromiumPath === null)('adding photos, in a browser', { timeout: 30_000 }, () => {
  const open = stageForFile()
  let visit: Visit

  async function diary(entries: FakeEntry[] = [], look: { width?: number } = {}) {
    const state = studyGroup(Date.now())
    state.diary.entries = entries
    visit = await open(state, { path: `/meals/${yesterday()}`, ...look })
    await visit.page.getByText('Live', { exact: true }).waitFor({ state: 'attached' })
    return visit
  }
  async function pick(page: Page, ...names: string[]) {
    if ((await page.locator('dialog.batch').count()) === 0) await page.keyboard.press('a')
    await page.getByLabel('Choose photos').setInputFiles(names.map(photo))
    await up(page, names.at(-1) ?? '').waitFor()
  }
  const start = (page: Page) => page.getByRole('button', { name: /^(Upload|Go on with) \d/ }).click()
  const up = (page: Page, name: string) => page.locator('li.up').filter({ hasText: name })
  const sheet = (page: Page) => page.getByRole('dialog', { name: 'Add photos' })
  const sent = () => visit.fake.requests.filter((one) => one.path === '/api/auto-log')
  const namesSent = () => sent().map(({ body }) => (body as { filename: string }).filename)
  const keysSent = () => new Set(sent().map((one) => one.headers['idempotency-key'])).size
  const edgesOf = (page: Page, selector: string) =>
    page.locator(selector).evaluate((one) => {
      const { top, bottom } = one.getBoundingClientRect()
      return { top: Math.round(top), bottom: Math.round(bottom) }
    })
  const becomes = (name: string, state: FakeEntry['state']) => {
    const entry = visit.fake.state.diary.entries.find((one) => one.name === name)
    Object.assign(entry ?? {}, { state })
    visit.fake.tell('photo', {})
  }

  test('an entry that could not be saved keeps its photo, says so, and can be tried again', async () => {
    const { page, fake } = await diary()
    await pick(page, EARLY, NOON)
    await start(page)
    await page.getByText(ALL_UP).waitFor()
    becomes(EARLY, 'dead')
    const dead = up(page, EARLY)
    await dead.getByText('Could not be saved in 6 tries. The photo and its estimate are kept.').waitFor()
    await dead.locator('img.thumb').waitFor()
    await page.getByRole('button', { name: 'Need you 1' }).click()
    await expect.poll(() => page.locator('li.up').count()).toBe(1)

    const detail = 'You have logged this photo since, so it is not logged again.'
    fake.refuse('POST /api/auto-log/', { status: 409, detail, times: 1 })
    await dead.getByRole('button', { name: 'Try again' }).click()
    // Said inside the sheet: what lies behind a modal one is neither seen nor read out.
    await sheet(page).getByText(`Not tried again. ${detail}`).waitFor()
    await page.setViewportSize({ width: 320, height: 640 })
    await sheet(page).evaluate((one) => one.scrollTo(0, 100))
    const [foot, toast] = [await edgesOf(page, '.batch .sheet-foot'), await edgesOf(page, '.batch .toast')]
    expect([foot.bottom, toast.bottom]).toEqual([toast.top, 640])
    await dead.getByText('Could not be saved in 6 tries.').waitFor()
    await dead.getByRole('button', { name: 'Try again' }).click()
    await up(page, EARLY).getByText('Uploaded, safe to close.').waitFor()
    expect(sent()).toHaveLength(2)
  })

  test('what could not be saved can be discarded: it asks once, and the photo goes with it', async () => {
    const { page, fake } = await diary()
    await pick(page, EARLY, NOON)
    await start(page)
    await page.getByText(ALL_UP).waitFor()
    becomes(NOON, 'dead')
    const discard = page.getByRole('button', { name: `Discard ${NOON}` })
    await discard.click()
    const question = page.getByRole('dialog', { name: 'Discard this photo?' })
    await question.getByRole('button', { name: 'Keep it' }).click()
    expect(fake.state.diary.entries).toHaveLength(2)
    await discard.click()
    await question.getByRole('button', { name: 'Discard' }).click()
    await up(page, NOON).waitFor({ state: 'detached' })
    await up(page, EARLY).waitFor()
    expect(fake.state.diary.entries.map(({ name }) => name)).toEqual([EARLY])
  })

  test('days later, without a batch, the diary still shows what could not be saved', async () => {
    const entry = { date: yesterday(), time: '12:31', state: 'dead' as const }
    const { page, fake } = await diary([
      { id: 'x1', name: 'one.jpg', ...entry },
      { id: 'x2', name: 'two.jpg', ...entry },
    ])
    const card = page.getByRole('region', { name: 'Not everything was saved' })
    await card.getByText('2 photos could not be saved in 6 tries.').waitFor()
    await expect.poll(() => card.locator('img').count()).toBe(2)
    await card.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('heading', { name: '2 photos on their way' }).waitFor()
    for (const one of fake.state.diary.entries) one.state = 'dead'
    fake.tell('photo', {})
    await card.getByRole('button', { name: 'Discard' }).click()
    const question = page.getByRole('dialog', { name: 'Discard 2 photos?' })
    await question.getByRole('button', { name: 'Discard' }).click()
    await card.waitFor({ state: 'detached' })
    expect(fake.state.diary.entries).toEqual([])
  })

  test('no room (429): the row says how many wait and for how long, and goes up by itself, not sooner; the others follow', async () => {
    const { page, fake } = await diary()
    await page.clock.install()
    await pick(page, EARLY, NOON, LATE)
    fake.refuse(SEND, { status: 429, type: 'queue-full', headers: { 'Retry-After': '60' }, times: 1 })
    // Sent from elsewhere a moment ago: the page has not heard of them.
    for (let n = 0; n < 200; n += 1)
      fake.state.diary.entries.push({
        ...{ id: `p${n}`, name: `p${n}.jpg`, date: yesterday(), time: '10:00', state: 'queued' },
      })
    // The row has stood there for a while: its wait is counted from now all the same, and from the first moment.
    await page.clock.runFor(45_000)
    await page.evaluate(noteWords, 'in about 2 min')
    await start(page)
    const held = up(page, EARLY)
    await held
      .getByText('200 photos are waiting already. This one goes up when there is room, in about 1 min.')
      .waitFor()
    await up(page, NOON).getByText('Waiting.').waitFor()
    await page.clock.runFor(55_000)
    await visit.context.setOffline(true)
    await visit.context.setOffline(false)
    await held.getByText(/^200 photos are waiting already\. .* in about \d+ s\.$/).waitFor()
    expect(sent()).toHaveLength(1)

    await page.clock.runFor(7_000)
    await page.getByText(ALL_UP).waitFor()
    expect(namesSent()).toEqual([EARLY, EARLY, NOON, LATE])
    expect(await page.evaluate(() => document.documentElement.dataset.noted)).toBeUndefined()
    expect(keysSent()).toBe(3)
  })

  test('too fast (429): left out while it waits, it takes its turn from nobody, and who is next waits as long', async () => {
    const { page, fake } = await diary()
    await page.clock.install()
    await pick(page, EARLY, NOON, LATE)
    fake.refuse(SEND, { status: 429, type: 'upload-rate', headers: { 'Retry-After': '30' }, times: 1 })
    await start(page)
    await up(page, EARLY)
      .getByText(/^Many photos in a short time\. This one goes up in about \d+ s\.$/)
      .waitFor()
    await page.getByRole('button', { name: `Leave out ${EARLY}` }).click()
    await up(page, NOON)
      .getByText(/^Many photos in a short time\./)
      .waitFor()
    await page.clock.runFor(25_000)
    expect(sent()).toHaveLength(1)
    await page.clock.runFor(7_000)
    await page.getByText(ALL_UP).waitFor()
    expect(namesSent()).toEqual([EARLY, NOON, LATE])
  })

  test('photos dragged over the page open the uploader, and count wherever they are dropped', async () => {
    const { page } = await diary()
    const files = onDisk(EARLY, NOON)
    const first = await drag(page, page.getByRole('heading', { level: 1 }), files)
    await sheet(page).waitFor()
    await first.drop()
    await up(page, NOON).waitFor()
    expect(await page.locator('li.up .file').allTextContents()).toEqual([EARLY, NOON])

    const onBox = await drag(page, page.locator('.drop'), onDisk(LATE))
    await page.locator('.drop.over').waitFor()
    await onBox.drop()
    await up(page, LATE).waitFor()
    await page.locator('.drop:not(.over)').waitFor()
    expect(await page.locator('li.up').count()).toBe(3)
    expect(sent()).toHaveLength(0)

    const folder = await drag(page, page.locator('.drop'), ['/tmp', ...onDisk(takenAt('15:00'))])
    await folder.drop()
    await sheet(page).getByText('Folders are not opened: drop the photos in them.').waitFor()
    await expect.poll(() => page.locator('li.up').count()).toBe(4)
  })

  test('a copied picture is pasted from anywhere, but for a sheet that something is being written in', async () => {
    const { page } = await diary()
    await pastePicture(page)
    await up(page, 'image.png').getByText('No time in this photo. When was it?').waitFor()
    await pastePicture(page)
    await expect.poll(() => page.locator('li.up').count()).toBe(2)
    // Cells and words are copied with a picture of themselves: a field takes the words.
    await page.getByLabel('Time of image.png').first().focus()
    await pastePicture(page, '12:31')
    // It opened once: Back closes it.
    await page.goBack()
    await sheet(page).waitFor({ state: 'detached' })

    await page.keyboard.press('n')
    await page.getByLabel('What it was').fill('Soup')
    await pastePicture(page)
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('button', { name: 'Show' }).click()
    expect(await page.locator('li.up').count()).toBe(2)
  })

  test('leaving asks while a photo would be lost, and no more once it is safe to close', async () => {
    const { page, fake } = await diary()
    const asked: string[] = []
    page.on('dialog', (dialog) => {
      asked.push(dialog.type())
      void dialog.dismiss()
    })
    // While its time is read a photo has no row yet, and would be lost all the same.
    await page.evaluate(holdReading)
    await page.keyboard.press('a')
    await page.getByLabel('Choose photos').setInputFiles(photo(EARLY))
    await page.getByText('Reading the time of 1 photo…').waitFor()
    await page.close({ runBeforeUnload: true })
    await expect.poll(() => asked).toEqual(['beforeunload'])
    await page.evaluate(() => dispatchEvent(new Event('read-on')))

    const letGo = fake.hold(SEND)
    await start(page)
    await up(page, EARLY)
      .getByText(/^Uploading, \d+ %$/)
      .waitFor()
    await page.getByText('Keep this page open for the uploads.').waitFor()
    await page.close({ runBeforeUnload: true })
    await expect.poll(() => asked.length).toBe(2)
    // Also from another screen: the uploads go on there.
    await page.getByRole('button', { name: 'Close' }).first().click()
    await page.getByRole('link', { name: 'Settings' }).click()
    await page.close({ runBeforeUnload: true })
    await expect.poll(() => asked.length).toBe(3)

    letGo()
    await page.getByText(ALL_UP).waitFor({ state: 'attached' })
    const closed = page.waitForEvent('close')
    await page.close({ runBeforeUnload: true })
    await closed
    expect(asked).toHaveLength(3)
    expect(fake.state.diary.entries).toHaveLength(1)
  })

  test('the session ends in the middle of a batch: who signs in again finds it, and it goes on', async () => {
    const { page, fake } = await diary()
    await pick(page, EARLY, NOON)
    fake.refuse(SEND, { status: 401, times: 1 })
    fake.state.session = null
    await start(page)
    await page.getByLabel('Email').fill('alice@example.org')
    await page.getByLabel('Password', { exact: true }).fill('a short sentence')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await expect.poll(() => fake.state.diary.entries.map(({ name }) => name)).toEqual([EARLY, NOON])
    expect(keysSent()).toBe(2)
  })
})
