import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { startFakeVision } from '../cases/fake-vision.ts'
import { call } from '../system/api.ts'
import { startGarner } from '../system/garner.ts'
import { browserForFile, chromiumPath, soon } from './browser.ts'
import {
  ALL_UPLOADED,
  berlinDay,
  cardWith,
  casePhoto,
  isLogged,
  mealsOf,
  photo,
  pick,
  startUpload,
  toMeals,
  upRow,
  written,
} from './meals.ts'

const yesterday = berlinDay(-1)
const before = berlinDay(-2)
const FETA = {
  food: 'Feta',
  serving: '1 slice',
  grams: 50,
  nutrients: { energy_kcal: 130, protein_g: 7, carbohydrate_g: 2, fat_g: 11, fiber_g: 0 },
}
const BREAD = {
  food: 'Bread',
  grams: 40,
  nutrients: { energy_kcal: 100, protein_g: 3, carbohydrate_g: 19, fat_g: 1, fiber_g: 2 },
}

describe.skipIf(chromiumPath === null)('the meal diary in a browser', { timeout: 120_000 }, () => {
  const open = browserForFile()

  async function diary(url: string, day = yesterday, as: 'Alice' | 'Bob' = 'Alice'): Promise<Page> {
    const { page } = await open(url, { as })
    await page.getByText('Live', { exact: true }).waitFor()
    await toMeals(page, day)
    return page
  }
  const timesOf = (page: Page) => page.locator('li.meal > time').allTextContents()

  test('photos picked in any order go up oldest first and become meals at the time they were taken, without a reload', async () => {
    const garner = await startGarner()
    const page = await diary(garner.url)
    await page.getByRole('heading', { name: 'Nothing logged on this day' }).waitFor()
    const uploads: string[] = []
    page.on('request', (request) => {
      if (request.url().endsWith('/api/auto-log')) uploads.push(request.headers()['idempotency-key'] ?? '')
    })
    await pick(page, [
      await photo('lunch.jpg', `${yesterday} 12:31`),
      await photo('early.jpg', `${yesterday} 07:42`),
      await photo('nothing.jpg', null),
      await photo('older.jpg', `${before} 19:08`),
    ])
    expect(await page.locator('li.up .file').allTextContents()).toEqual([
      ...['older.jpg', 'early.jpg', 'lunch.jpg', 'nothing.jpg'],
    ])
    await upRow(page, 'early.jpg').getByText('Time read from the photo.').waitFor()
    const asked = upRow(page, 'nothing.jpg')
    await asked.getByText('No time in this photo. When was it?').waitFor()
    await page.getByRole('button', { name: 'Need you 1' }).click()
    await soon(() => page.locator('li.up').count()).toBe(1)
    await page.getByRole('button', { name: 'All 4' }).click()

    await startUpload(page)
    await isLogged(page, 'lunch.jpg')
    await page.getByText('Keep this page open for the uploads.').waitFor()
    // The question is answered by hand, one field after the other: only then does it go up.
    await asked.getByLabel('Day of nothing.jpg').fill(yesterday)
    await asked.getByLabel('Time of nothing.jpg').fill('21:05')
    expect(uploads).toHaveLength(3)
    await asked.getByLabel('Time of nothing.jpg').press('Enter')
    await page.getByText(ALL_UPLOADED).waitFor()
    await isLogged(page, 'nothing.jpg')
    expect(new Set(uploads).size).toBe(4)

    await page.locator('footer').getByRole('button', { name: 'Close' }).click()
    await soon(() => timesOf(page)).toEqual(['07:42', '12:31', '21:05'])
    await soon(() =>
      page
        .locator('li.meal .pic img')
        .evaluateAll((images) =>
          images.map((image) => (image as unknown as { naturalWidth: number }).naturalWidth),
        ),
    ).toEqual([320, 320, 320])
    expect((await mealsOf(garner, before)).map((meal) => meal.time)).toEqual(['19:08'])
  })

  test('the tab is closed after the upload, and the meals are there afterwards', async () => {
    const vision = await startFakeVision()
    vision.hold()
    const garner = await startGarner({
      env: { GARNER_VISION_URL: vision.url, GARNER_VISION_MODEL: 'test-model' },
    })
    const first = await diary(garner.url)
    await pick(first, [
      await photo('a.jpg', `${yesterday} 08:00`),
      await photo('b.jpg', `${yesterday} 13:00`),
    ])
    await startUpload(first)
    await first.getByText(ALL_UPLOADED).waitFor()
    await upRow(first, 'a.jpg').getByText('Being described.').waitFor()
    await first.close()

    const second = await diary(garner.url)
    await soon(() => cardWith(second, 'Being described. Safe to close.').count()).toBe(2)
    await second.getByText('2 meals are not counted yet.').waitFor()
    await second.getByRole('heading', { name: '2 photos on their way' }).waitFor()
    vision.release()
    await soon(() => second.locator('li.meal.coming').count()).toBe(0)
    expect(await timesOf(second)).toEqual(['08:00', '13:00'])
    await soon(() => second.getByText(/on their way/).count()).toBe(0)
    expect((await mealsOf(garner, yesterday)).map((meal) => meal.estimate)).toEqual([
      'estimated',
      'estimated',
    ])
    expect(vision.billed).toBe(2)
  })

  test('Stop after this one stops, a dropped connection is told and tried again, a photo can be left out', async () => {
    const garner = await startGarner()
    const page = await diary(garner.url)
    let drops = 0
    let letGo = () => {}
    const held = new Promise<void>((resolve) => {
      letGo = resolve
    })
    await page.route('**/api/auto-log', async (route) => {
      drops += 1
      if (drops === 1) await held
      if (drops === 2) await route.abort('connectionreset')
      else await route.continue()
    })
    const names = ['a.jpg', 'b.jpg', 'c.jpg', 'd.jpg']
    await pick(page, await Promise.all(names.map((name, i) => photo(name, `${yesterday} ${10 + i}:00`))))
    await page.getByRole('button', { name: 'Leave out d.jpg' }).click()
    await soon(() => page.locator('li.up').count()).toBe(3)
    await startUpload(page)
    await upRow(page, 'a.jpg')
      .getByText(/^Uploading, \d+ %$/)
      .waitFor()
    await page.getByRole('button', { name: 'Stop after this one' }).click()
    letGo()
    await isLogged(page, 'a.jpg')
    await upRow(page, 'b.jpg').getByText('Waiting.').waitFor()
    expect(drops).toBe(1)

    await startUpload(page)
    await upRow(page, 'b.jpg').getByText('Not uploaded.').waitFor()
    await isLogged(page, 'c.jpg')
    await page.getByRole('button', { name: 'Try 1 again' }).click()
    await isLogged(page, 'b.jpg')
    await page.getByText(ALL_UPLOADED).waitFor()
    expect((await mealsOf(garner, yesterday)).map((meal) => meal.time)).toEqual(['10:00', '11:00', '12:00'])
  })

  test('a camera whose clock was wrong: all its times move before they go up', async () => {
    const garner = await startGarner()
    const page = await diary(garner.url)
    await pick(page, [await photo('a.jpg', `${before} 22:30`), await photo('b.jpg', `${before} 23:15`)])
    await page.getByText('The camera’s clock was wrong?').click()
    await page.getByLabel('Hours').fill('1')
    await page.getByLabel('Minutes').fill('30')
    await page.getByRole('button', { name: 'Move', exact: true }).click()
    await page.locator('.shift').getByText('2 times moved.').waitFor()
    expect(await upRow(page, 'b.jpg').getByLabel('Time of b.jpg').inputValue()).toBe('00:45')
    await startUpload(page)
    await page.getByText(ALL_UPLOADED).waitFor()
    await soon(async () => (await mealsOf(garner, yesterday)).map((meal) => meal.time)).toEqual([
      '00:00',
      '00:45',
    ])
  })

  test('the same photo again is answered as such; a copy can be logged anyway, the very same file cannot', async () => {
    const garner = await startGarner()
    const page = await diary(garner.url)
    const taken = '2026-08-01'
    const lunch = casePhoto('dup-reencoded/orig.jpg')
    const copy = casePhoto('dup-reencoded/IMG-20260801-WA0005.jpg')
    await pick(page, [lunch])
    await startUpload(page)
    await isLogged(page, 'orig.jpg')
    await pick(page, [{ ...lunch, name: 'again.jpg' }, copy])
    // Its name has the day and no minute.
    await upRow(page, copy.name).getByText('No time in this photo. When was it?').waitFor()
    expect(await page.getByLabel(`Day of ${copy.name}`).inputValue()).toBe(taken)
    await page.getByLabel(`Time of ${copy.name}`).fill('13:40')
    await page.getByLabel(`Time of ${copy.name}`).press('Enter')
    await startUpload(page)
    for (const name of ['again.jpg', copy.name]) {
      await upRow(page, name).getByText('Already logged.').waitFor()
      await upRow(page, name).getByText('You have this photo on Sat 1 Aug at 13:20.').waitFor()
    }
    expect(await mealsOf(garner, taken)).toHaveLength(1)
    await page.getByRole('button', { name: `Log it anyway: ${copy.name}` }).click()
    await isLogged(page, copy.name)
    expect((await mealsOf(garner, taken)).map((meal) => meal.time)).toEqual(['13:20', '13:40'])
    await page.getByRole('button', { name: 'Log it anyway: again.jpg' }).click()
    await upRow(page, 'again.jpg').getByText('it is not logged twice.').waitFor()
    await page.getByRole('button', { name: 'Leave out again.jpg' }).click()
    await soon(() => page.locator('li.up').count()).toBe(2)
    expect(await mealsOf(garner, taken)).toHaveLength(2)
  })

  test('when the day’s estimates are used up photos are still logged, and say why they have no words', async () => {
    const garner = await startGarner({ env: { GARNER_AI_DAILY_LIMIT: '1' } })
    const page = await diary(garner.url)
    await pick(page, [await photo('a.jpg', `${yesterday} 08:00`), await photo('b.jpg', `${yesterday} 13:00`)])
    await startUpload(page)
    await upRow(page, 'b.jpg').getByText('Today’s estimates were used up when it arrived.').waitFor()
    await page.locator('footer').getByRole('button', { name: 'Close' }).click()
    const bare = cardWith(page, 'Photo meal — description pending')
    await bare.getByText('Today’s estimates were used up when it arrived.').waitFor()
    await page.getByText('1 meal is not counted yet.').waitFor()
    await page.getByRole('heading', { name: 'Today’s 1 estimate is used' }).waitFor()

    await bare.getByRole('link', { name: 'Write it myself' }).click()
    await page.getByLabel('What it was').fill('Two pancakes')
    await page.getByRole('button', { name: 'Save' }).click()
    await cardWith(page, 'Two pancakes').waitFor()
    await soon(() => page.getByText('Photo meal').count()).toBe(0)
  })

  test('a photo whose estimate could not be used can be estimated again; its place in the day stays', async () => {
    const vision = await startFakeVision()
    vision.setMode('refusal')
    const garner = await startGarner({
      env: { GARNER_VISION_URL: vision.url, GARNER_VISION_MODEL: 'test-model' },
    })
    const page = await diary(garner.url)
    await pick(page, [await photo('a.jpg', `${yesterday} 08:00`)])
    await startUpload(page)
    await upRow(page, 'a.jpg').getByText('Logged with photo and time.').waitFor()
    await page.locator('footer').getByRole('button', { name: 'Close' }).click()
    const bare = cardWith(page, 'Photo meal — description pending')
    await bare.getByText('The estimate’s answer could not be used. Nothing was counted.').waitFor()
    vision.setMode('ok')
    await bare.getByRole('button', { name: 'Estimate now' }).click()
    await page.locator('li.meal .tag').getByText('estimated').waitFor()
    expect(await timesOf(page)).toEqual(['08:00'])
    await page.getByRole('heading', { name: '48 of 50 estimates left today' }).waitFor()
    expect(vision.billed).toBe(2)
  })

  test('grams rescale from the estimate, a typed amount stays until it is recalculated, the total is the sum', async () => {
    const garner = await startGarner()
    await written(garner, { date: yesterday, time: '12:31', description: 'Feta bread', items: [FETA, BREAD] })
    const page = await diary(garner.url)
    const other = await diary(garner.url)
    await page.getByRole('link', { name: 'Edit the meal at 12:31' }).click()
    const feta = page.locator('li.item').first()
    await feta.getByLabel('kcal').fill('150')
    for (const grams of ['3', '33', '100']) await feta.getByLabel('Grams').fill(grams)
    expect(await feta.getByLabel('kcal').inputValue()).toBe('150')
    expect(await feta.getByLabel('Protein').inputValue()).toBe('14')
    const sum = page.locator('.sum')
    expect(await sum.locator('[data-l="kcal"]').textContent()).toBe('250')
    await page.getByRole('button', { name: 'Feta kcal is yours: recalculate from grams' }).click()
    expect(await feta.getByLabel('kcal').inputValue()).toBe('260')
    await feta.getByLabel('Grams').fill('50')
    expect(await feta.getByLabel('kcal').inputValue()).toBe('130')
    await feta.getByLabel('Grams').fill('75')
    expect(await sum.locator('[data-l="kcal"]').textContent()).toBe('295')
    await page.keyboard.press('Control+Enter')
    await page.locator('dialog.drawer').waitFor({ state: 'detached' })
    await cardWith(page, 'Feta bread').getByText('295').waitFor()
    // And everywhere else it is open.
    await cardWith(other, 'Feta bread').getByText('295').waitFor()
    // The focus is back where it was.
    await soon(() => page.evaluate('document.activeElement.getAttribute("aria-label")')).toBe(
      'Edit the meal at 12:31',
    )
  })

  test('a meal that was changed elsewhere meanwhile: nothing is lost, and nothing is chosen for its writer', async () => {
    const garner = await startGarner()
    const meal = await written(garner, {
      date: yesterday,
      time: '12:31',
      description: 'Soup',
      items: [BREAD],
    })
    const page = await diary(garner.url)
    const change = async (body: object) => {
      const answer = await call(`${garner.url}/api/meals/${meal.id}`, { method: 'PATCH', body })
      expect(answer.status).toBe(200)
    }
    await page.getByRole('link', { name: 'Edit the meal at 12:31' }).click()
    await page.getByLabel('What it was').fill('Soup with bread')
    await change({ version: 1, description: 'Soup of the day' })
    await page.getByRole('button', { name: 'Save' }).click()
    const conflict = page.getByRole('region', { name: 'Two versions of this meal' })
    await conflict.getByText('This meal was changed somewhere else, while you were writing.').waitFor()
    await conflict.getByText('of the day').waitFor()
    expect(await page.getByLabel('What it was').inputValue()).toBe('Soup with bread')
    expect((await mealsOf(garner, yesterday))[0]?.description).toBe('Soup of the day')

    // Closed and reloaded, the draft is still there.
    await page.reload()
    await conflict.waitFor()
    await conflict.getByRole('button', { name: 'Save my draft' }).click()
    await cardWith(page, 'Soup with bread').waitFor()
    expect((await mealsOf(garner, yesterday))[0]).toMatchObject({
      description: 'Soup with bread',
      version: 3,
    })

    await page.getByRole('link', { name: 'Edit the meal at 12:31' }).click()
    await page.getByLabel('What it was').fill('Something else')
    await change({ version: 3, description: 'Stew' })
    await page.getByRole('button', { name: 'Save' }).click()
    await conflict.getByRole('button', { name: 'Keep the one in the diary' }).click()
    await soon(() => page.getByLabel('What it was').inputValue()).toBe('Stew')
  })

  test('deleting asks once; what is deleted is gone, its photo too', async () => {
    const garner = await startGarner()
    const page = await diary(garner.url)
    await pick(page, [await photo('a.jpg', `${yesterday} 08:00`)])
    await startUpload(page)
    await isLogged(page, 'a.jpg')
    const [meal] = await mealsOf(garner, yesterday)
    await page.getByRole('link', { name: 'Open a.jpg' }).click()
    await page.getByRole('button', { name: 'Delete this meal' }).click()
    const dialog = page.getByRole('dialog', { name: 'Delete this meal?' })
    await dialog.getByRole('button', { name: 'Keep it' }).click()
    expect(await mealsOf(garner, yesterday)).toHaveLength(1)
    await page.getByRole('button', { name: 'Delete this meal' }).click()
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByText('Deleted. Nothing of it is left here.').waitFor()
    await page.getByRole('heading', { name: 'Nothing logged on this day' }).waitFor()
    expect(await mealsOf(garner, yesterday)).toEqual([])
    expect((await call(`${garner.url}/api/photos/${meal?.id}`)).status).toBe(404)
  })

  test('a meal is written by hand; what was typed survives a reload; keys lead everywhere', async () => {
    const garner = await startGarner()
    const page = await diary(garner.url)
    await page.keyboard.press('n')
    await page.getByLabel('What it was').fill('Porridge <b>with</b> honey')
    await page.locator('li.item').first().getByLabel('Item', { exact: true }).fill('Oats')
    await page.locator('li.item').first().getByLabel('kcal').fill('389')
    await page.reload()
    expect(await page.getByLabel('What it was').inputValue()).toBe('Porridge <b>with</b> honey')
    await page.getByLabel('Time').fill('07:30')
    await page.getByRole('button', { name: 'Save' }).click()
    await cardWith(page, 'Porridge <b>with</b> honey').getByText('389').waitFor()

    await page.keyboard.press('ArrowLeft')
    await page.waitForURL(`**/meals/${before}`)
    await page.keyboard.press('ArrowRight')
    await page.waitForURL(`**/meals/${yesterday}`)
    await page.keyboard.press('g')
    await page.keyboard.press('r')
    await page.getByLabel('Link to save for Study group').waitFor()
    await page.keyboard.press('g')
    await page.keyboard.press('m')
    await page.waitForURL(`**/meals/${berlinDay()}`)
    await page.keyboard.press('a')
    await page.getByRole('dialog', { name: 'Add photos' }).waitFor()
    await page.goBack()
    await page.locator('dialog.batch').waitFor({ state: 'detached' })
  })

  test('goals are drawn against, in the unit that was chosen', async () => {
    const garner = await startGarner()
    await written(garner, { date: yesterday, time: '12:31', description: 'Feta', items: [FETA] })
    const page = await diary(garner.url)
    await page.getByRole('heading', { name: '130 kcal counted' }).waitFor()
    await page.getByRole('link', { name: 'Set a goal' }).click()
    await page.getByLabel('Energy', { exact: true }).fill('2100')
    await page.getByLabel('Protein', { exact: true }).fill('95')
    await page.getByRole('button', { name: 'Save goals' }).click()
    await page.locator('#goals').getByText('Saved').waitFor()
    await toMeals(page, yesterday)
    await page.getByRole('heading', { name: '1,970 kcal to your goal of 2,100' }).waitFor()
    await page.locator('.goalbars').getByText('7 of 95 g').waitFor()
    await page.getByRole('button', { name: 'As a table' }).click()
    await page.getByRole('table', { name: 'Energy per day' }).getByText('130 kcal').waitFor()

    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Settings' }).click()
    await page.getByRole('button', { name: 'kJ' }).click()
    expect(await page.getByLabel('Energy', { exact: true }).inputValue()).toBe('8786')
    await page.getByRole('button', { name: 'Save goals' }).click()
    await page.locator('#goals').getByText('Saved').waitFor()
    await toMeals(page, yesterday)
    await page.getByRole('heading', { name: '8,242 kJ to your goal of 8,786' }).waitFor()
  })

  test('a link shows the days to somebody without an account, until it is stopped', async () => {
    const garner = await startGarner()
    await written(garner, { date: yesterday, time: '12:31', description: 'Feta bread', items: [FETA] })
    const page = await diary(garner.url)
    await page.keyboard.press('g')
    await page.keyboard.press('s')
    await page.getByRole('button', { name: 'New link' }).click()
    await page.getByLabel('For whom').fill('Dr. Keller')
    await page.getByRole('button', { name: 'Make the link' }).click()
    await page.getByText('Copy it now: it is shown once.').waitFor()
    const link = (await page.locator('#sharing code').textContent()) ?? ''
    expect(link.startsWith(`${garner.url}/s/`)).toBe(true)
    await page.getByText('Not opened yet.').waitFor()

    const { page: guest } = await open(garner.url, { path: new URL(link).pathname })
    await guest.getByText('Feta bread').waitFor()
    expect(await guest.getByText('Dr. Keller').count()).toBe(0)

    await page.reload()
    await page.getByText(/Opened 1 time, last today at/).waitFor()
    expect(await page.getByText(link).count()).toBe(0)
    await page.getByRole('button', { name: 'Stop Dr. Keller' }).click()
    await page.getByText('No links yet.').waitFor()
    await guest.reload()
    await soon(() => guest.getByText('Feta bread').count()).toBe(0)
  })
})
