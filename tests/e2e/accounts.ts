/** What people do at Garner's door, outside demo mode. */
import type { Page } from 'playwright-core'

export interface Person {
  name: string
  email: string
  password: string
}

export const ALICE: Person = {
  name: 'Alice Moreau',
  email: 'alice@example.org',
  password: 'tea before the bus',
}
export const MEI: Person = { name: 'Mei Tanaka', email: 'mei@example.org', password: 'rain on a tin roof' }

/** The first visit: makes the account that runs this Garner. */
export async function setUp(page: Page, person: Person, { group = '' } = {}): Promise<void> {
  await page.getByRole('heading', { level: 1, name: 'Set up your Garner' }).waitFor()
  await fillIn(page, person)
  if (group !== '') await page.getByLabel(/^First group/).fill(group)
  await page.getByRole('button', { name: 'Create the account' }).click()
}

/** From the sign-in page. */
export async function askForAnAccount(page: Page, person: Person): Promise<void> {
  await page.getByRole('link', { name: 'Ask for one' }).click()
  await page.getByRole('heading', { level: 1, name: 'Ask for an account' }).waitFor()
  await fillIn(page, person)
  await page.getByRole('button', { name: 'Ask to come in' }).click()
}

export async function signIn(page: Page, { email, password }: Omit<Person, 'name'>): Promise<void> {
  await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor()
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

async function fillIn(page: Page, { name, email, password }: Person): Promise<void> {
  await page.getByLabel('Your name').fill(name)
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password', { exact: true }).fill(password)
}

/** By the navigation, without a reload. */
export async function goTo(page: Page, screen: 'Reading' | 'Settings'): Promise<void> {
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: screen }).click()
}
