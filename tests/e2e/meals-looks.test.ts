import { mkdirSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { beforeAll, describe, test } from 'vitest'
import { startFakeVision } from '../cases/fake-vision.ts'
import { call } from '../system/api.ts'
import { startGarner, tempDir } from '../system/garner.ts'
import { browserForFile, chromiumPath, SHOTS, soon } from './browser.ts'
import { expectQuietConsole, lookAt } from './look-at.ts'
import {
  berlinDay,
  cardWith,
  casePhoto,
  isLogged,
  photo,
  pick,
  startUpload,
  toMeals,
  upRow,
  written,
} from './meals.ts'

const yesterday = berlinDay(-1)
const LONG =
  'Lentil salad with feta, cherry tomatoes, an unreasonable amount of parsley and two slices of bread'

describe.skipIf(chromiumPath === null)(
  'how the meal diary looks, and who can use it',
  { timeout: 300_000 },
  () => {
    const open = browserForFile()
    beforeAll(() => void mkdirSync(SHOTS, { recursive: true }))

    const item = (food: string, grams: number, kcal: number) => ({
      ...{ food, grams },
      nutrients: {
        energy_kcal: kcal,
        protein_g: kcal / 20,
        carbohydrate_g: kcal / 9,
        fat_g: kcal / 30,
        fiber_g: 2,
      },
    })

    async function month(garner: { url: string }): Promise<void> {
      for (let back = 29; back >= 1; back -= 1) {
        if (back % 9 === 4) continue
        const items = [item('Rice', 300, 900 + ((back * 137) % 700)), item('Beans', 200, 600)]
        await written(garner, { date: berlinDay(-back), time: '12:00', description: LONG, items })
      }
    }

    async function aims(garner: { url: string }): Promise<void> {
      const goals = { energy_kcal: 2100, protein_g: 95, carbohydrate_g: 240, fat_g: 70, fiber_g: 30 }
      const body = {
        goals: Object.fromEntries(
          Object.entries(goals).map(([name, amount]) => [name, { amount, direction: 'about' }]),
        ),
      }
      await call(`${garner.url}/api/goals`, { method: 'PUT', body })
    }

    async function diary(url: string): Promise<{ page: Page; quiet(): void }> {
      const visit = await open(url, { as: 'Alice' })
      await visit.page.getByText('Live', { exact: true }).waitFor()
      await toMeals(visit.page, yesterday)
      return {
        page: visit.page,
        quiet: () => expectQuietConsole(visit, /status of (401|409|415)|ERR_CONNECTION_RESET/),
      }
    }

    test('a day without meals, and one with meals in every state, the month around it and the sheets over it', async () => {
      const vision = await startFakeVision()
      const garner = await startGarner({
        env: { GARNER_VISION_URL: vision.url, GARNER_VISION_MODEL: 'test-model', GARNER_AI_DAILY_LIMIT: '4' },
      })
      await aims(garner)
      const { page, quiet } = await diary(garner.url)
      await page.getByRole('heading', { name: 'Nothing logged on this day' }).waitFor()
      await lookAt(page, 'meals-empty', { isScreen: true })
      await month(garner)
      const alike = await written(garner, {
        date: yesterday,
        time: '10:15',
        description: 'Coffee and a croissant',
      })

      await pick(page, [
        await photo('a.jpg', `${yesterday} 07:42`),
        await photo('b.jpg', `${yesterday} 15:50`),
      ])
      await startUpload(page)
      await isLogged(page, 'b.jpg')
      vision.setMode('refusal')
      await pick(page, [await photo('c.jpg', `${yesterday} 16:20`)])
      await startUpload(page)
      await upRow(page, 'c.jpg').getByText('Logged with photo and time.').waitFor()
      vision.hold()
      await pick(page, [await photo('d.jpg', `${yesterday} 19:08`)])
      await startUpload(page)
      await upRow(page, 'd.jpg').getByText('Being described.').waitFor()
      await page.keyboard.press('Escape')
      await cardWith(page, 'Being described. Safe to close.').waitFor()
      await soon(() => page.locator('li.meal').count()).toBe(6)
      await lookAt(page, 'meals-day', { isScreen: true })
      await page.getByRole('button', { name: 'As a table' }).click()
      await lookAt(page, 'meals-table', { isScreen: true })
      await page.getByRole('button', { name: 'As a table' }).click()

      await page.getByRole('link', { name: 'Edit the meal at 12:00' }).click()
      await page.locator('li.item').first().getByLabel('kcal').fill('1234')
      await lookAt(page, 'meals-sheet')
      await page.getByRole('button', { name: 'Delete this meal' }).click()
      await lookAt(page, 'meals-delete')
      await page.getByRole('button', { name: 'Keep it' }).click()
      await page.getByRole('button', { name: 'Cancel' }).click()

      await page.getByRole('link', { name: 'Edit the meal at 10:15' }).click()
      await page.getByLabel('What it was').fill('Coffee with milk and a croissant')
      const changed = { version: 1, description: 'Two croissants' }
      await call(`${garner.url}/api/meals/${alike.id}`, { method: 'PATCH', body: changed })
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByRole('region', { name: 'Two versions of this meal' }).waitFor()
      await lookAt(page, 'meals-conflict')
      await page.getByRole('button', { name: 'Keep the one in the diary' }).click()
      await page.keyboard.press('Escape')
      await page.keyboard.press('?')
      await page.getByRole('dialog', { name: 'Keys' }).waitFor()
      await lookAt(page, 'meals-keys')
      await page.keyboard.press('Escape')
      vision.release()

      await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Settings' }).click()
      await page.getByRole('button', { name: 'New link' }).click()
      await page.getByLabel('For whom').fill('Dr. Keller')
      await page.getByRole('button', { name: 'Make the link' }).click()
      await page.getByText('Copy it now: it is shown once.').waitFor()
      await page.getByRole('button', { name: 'New link' }).click()
      await page.getByText('What is sent, and what happens').click()
      await lookAt(page, 'meals-settings', { isScreen: true })
      quiet()
    })

    test('a batch with a row in every state, before, in the middle and after', async () => {
      const vision = await startFakeVision()
      const garner = await startGarner({
        env: { GARNER_VISION_URL: vision.url, GARNER_VISION_MODEL: 'test-model' },
      })
      const { page, quiet } = await diary(garner.url)
      await page.keyboard.press('a')
      await page.getByRole('dialog', { name: 'Add photos' }).waitFor()
      await lookAt(page, 'batch-nothing-picked')
      const dinner = await photo('IMG_4098.jpg', `${yesterday} 19:41`)
      await pick(page, [await photo('IMG_4102.jpg', `${yesterday} 08:12`), dinner])
      await startUpload(page)
      await isLogged(page, 'IMG_4098.jpg')
      await pick(page, [
        { ...dinner, name: 'IMG_4107.jpg' },
        { ...casePhoto('fmt-raw/DSC0001.DNG'), mimeType: 'image/x-adobe-dng' },
      ])
      // On disk: as much as this does not go to a browser in one message.
      const large = join(tempDir(), `${'a-long-name-'.repeat(9)}.jpg`)
      writeFileSync(large, '')
      truncateSync(large, 32_000_000)
      await page.getByLabel('Choose photos').setInputFiles(large)
      await page.getByText('32 MB is over the limit of 25 MB.').waitFor()
      await startUpload(page)
      await upRow(page, 'IMG_4107.jpg').getByText('Already logged.').waitFor()
      await upRow(page, 'DSC0001.DNG').getByText('Not uploaded.').waitFor()
      vision.hold()
      await pick(page, [await photo('IMG_4131.jpg', `${yesterday} 12:31`), await photo('IMG_4140.jpg', null)])
      await startUpload(page)
      await upRow(page, 'IMG_4131.jpg').getByText('Being described.').waitFor()
      let seen = 0
      await page.route('**/api/auto-log', (route) => {
        seen += 1
        // The first is cut off, the others never get an answer.
        if (seen === 1) void route.abort('connectionreset')
      })
      await pick(
        page,
        await Promise.all([13, 14, 15].map((hour) => photo(`IMG_41${hour}.jpg`, `${yesterday} ${hour}:10`))),
      )
      await lookAt(page, 'batch-picked')
      await startUpload(page)
      await upRow(page, 'IMG_4113.jpg').getByText('Not uploaded.').waitFor()
      await upRow(page, 'IMG_4114.jpg')
        .getByText(/^Uploading,/)
        .waitFor()
      await page.getByText('The camera’s clock was wrong?').click()
      await lookAt(page, 'batch-in-the-middle')
      await page.locator('.ups').evaluate('(list) => list.scrollTo(0, 1e6)')
      await lookAt(page, 'batch-in-the-middle-below')
      quiet()
    })
  },
)
