/** Photos and meals, as tests of the diary arrange and find them. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Locator, Page } from 'playwright-core'
import { call } from '../system/api.ts'

const sharp = createRequire(new URL('../../apps/server/package.json', import.meta.url))('sharp')

/** As a browser's file input takes it. */
export interface Picked {
  name: string
  mimeType: string
  buffer: Buffer
}

/** `YYYY-MM-DD` in Berlin, where the browsers of these tests are; `days` from today. */
export function berlinDay(days = 0): string {
  const parts = new Intl.DateTimeFormat('en-CA', { timeZone: 'Europe/Berlin' })
  return parts.format(new Date(Date.now() + days * 86_400_000))
}

let pictures = 0

/**
 * A picture that looks like no other of its process: 8 by 8 blurred squares. `taken` is `YYYY-MM-DD HH:MM`, written as a
 * camera would; without it the photo says nothing of its time.
 */
export async function photo(name: string, taken: string | null, size = 320): Promise<Picked> {
  pictures += 1
  let seed = pictures * 2_654_435_761
  const next = () => {
    seed = (Math.imul(seed ^ (seed >>> 15), 2_246_822_519) + 3_266_489_917) >>> 0
    return seed % 256
  }
  const squares = Buffer.from(Array.from({ length: 8 * 8 * 3 }, next))
  const image = sharp(squares, { raw: { width: 8, height: 8, channels: 3 } }).resize(size, size, {
    kernel: 'cubic',
  })
  const stamped =
    taken === null
      ? image
      : image.withExif({ IFD2: { DateTimeOriginal: `${taken.replaceAll('-', ':')}:00` } })
  return { name, mimeType: 'image/jpeg', buffer: await stamped.jpeg({ quality: 90 }).toBuffer() }
}

/** A file of a case of tests/cases/photos. */
export function casePhoto(path: string): Picked {
  const buffer = readFileSync(new URL(`../cases/photos/${path}`, import.meta.url))
  return { name: path.split('/').at(-1) ?? path, mimeType: 'image/jpeg', buffer }
}

/** Opens the uploader and picks; resolves when every photo has its row. */
export async function pick(page: Page, photos: readonly Picked[]): Promise<void> {
  const before = await page.locator('li.up').count()
  if ((await page.locator('dialog.batch').count()) === 0) await page.keyboard.press('a')
  await page.getByLabel('Choose photos').setInputFiles([...photos])
  await page
    .locator('li.up')
    .nth(before + photos.length - 1)
    .waitFor()
}

export const startUpload = (page: Page): Promise<void> =>
  page.getByRole('button', { name: /^(Upload|Go on with) \d/ }).click()

export const upRow = (page: Page, name: string): Locator => page.locator('li.up').filter({ hasText: name })

/** Waits until a photo of the batch has become a meal. ("Already logged." has not.) */
export const isLogged = (page: Page, name: string): Promise<void> =>
  upRow(page, name).getByText('Logged.', { exact: true }).waitFor()

export const ALL_UPLOADED = 'All uploaded. It is safe to close.'

/** The card of a meal, found by any of its words. */
export const cardWith = (page: Page, words: string | RegExp): Locator =>
  page.locator('li.meal').filter({ hasText: words })

export async function toMeals(page: Page, day: string): Promise<void> {
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Meals' }).click()
  await page.locator('h1').waitFor()
  if (!page.url().endsWith(day)) {
    await page.locator('.week a').first().waitFor()
    const back = Math.round((Date.parse(berlinDay()) - Date.parse(day)) / 86_400_000)
    for (let i = 0; i < back; i += 1) await page.keyboard.press('ArrowLeft')
    await page.waitForURL(`**/meals/${day}`)
  }
}

export interface MealAnswer {
  id: string
  date: string
  time: string
  description: string
  version: number
  estimate: string
  items: { food: string; grams: number | null; nutrients: Record<string, number | null> }[]
  nutrients: Record<string, number | null>
}

/** Somebody's meals of a day, over the API. */
export async function mealsOf(garner: { url: string }, date: string, user = 'alice'): Promise<MealAnswer[]> {
  const { body } = await call(`${garner.url}/api/meals?date=${date}`, { user })
  return body.days[0].meals
}

/** A meal written by hand, over the API. */
export async function written(
  garner: { url: string },
  meal: { date: string; time: string; description: string; items?: unknown[] },
  user = 'alice',
): Promise<MealAnswer> {
  const { status, body, text } = await call(`${garner.url}/api/meals`, { user, body: meal })
  if (status !== 201) throw new Error(`${status} for a meal: ${text}`)
  return body
}
