import { describe, expect, test } from 'vitest'
import { chromiumPath, row, stageForFile, type Visit } from './browser.ts'
import { studyGroup } from './fake-state.ts'

describe.skipIf(chromiumPath === null)('the door and the settings, in a browser', { timeout: 30_000 }, () => {
  const open = stageForFile()
  let visit: Visit

  const state = () => studyGroup(Date.now())
  const heading = (name: string) => visit.page.getByRole('heading', { name, level: 1 })

  test('the first visit makes the account that runs it, and its first group', async () => {
    const empty = { ...state(), setupNeeded: true, session: null, users: [], groups: [], links: [] }
    visit = await open(empty, { path: '/' })
    const { page, fake } = visit
    await heading('Set up your Garner').waitFor()
    await page.getByLabel('Your name').fill('Alice Moreau')
    await page.getByLabel('Email').fill('alice@example.org')
    await page.getByLabel('Password', { exact: true }).fill('a short sentence')
    await page.getByLabel(/^First group/).fill('Study group')
    await page.getByRole('button', { name: 'Create the account' }).click()
    await page.getByRole('button', { name: 'Study group' }).waitFor()
    expect(fake.state.groups.map((group) => group.name)).toContain('Study group')
    expect(fake.state.users[0]).toMatchObject({ role: 'admin', name: 'Alice Moreau' })
  })

  test('a wrong password and too many tries are told in words, and what was typed stays', async () => {
    visit = await open({ ...state(), session: null }, { path: '/' })
    const { page, fake } = visit
    await heading('Sign in').waitFor()
    await page.getByLabel('Email').fill('bob@example.org')
    await page.getByLabel('Password', { exact: true }).fill('wrong')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('That email and password do not go together.').waitFor()
    expect(await page.getByLabel('Email').inputValue()).toBe('bob@example.org')
    fake.refuse('POST /api/auth/sign-in', { status: 429, headers: { 'Retry-After': '30' }, times: 1 })
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('Too many tries. You can try again in 30 s.').waitFor()
    await page.getByLabel('Password', { exact: true }).fill('a short sentence')
    await page.getByRole('button', { name: 'Show the password' }).click()
    expect(await page.getByLabel('Password', { exact: true }).getAttribute('type')).toBe('text')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await row(page, 'l3').waitFor()
  })

  test('asking for an account waits at the door, which opens by itself', async () => {
    visit = await open({ ...state(), session: null }, { path: '/' })
    const { page, fake } = visit
    await page.getByRole('link', { name: 'Ask for one' }).click()
    await page.getByLabel('Your name').fill('Noor')
    await page.getByLabel('Email').fill('bob@example.org')
    await page.getByLabel('Password', { exact: true }).fill('a short sentence')
    await page.getByRole('button', { name: 'Ask to come in' }).click()
    await page.getByText('There is already an account with that email. Sign in with it instead.').waitFor()
    await page.getByLabel('Email').fill('noor@example.org')
    await page.clock.install()
    await page.getByRole('button', { name: 'Ask to come in' }).click()
    await heading('Almost in, Noor').waitFor()
    Object.assign(fake.state.users.find((user) => user.id === 'noor') ?? {}, { status: 'approved' })
    await page.clock.runFor(6_000)
    await heading('You are in no group yet').waitFor()
  })

  test('turned away says so, and lets go', async () => {
    const away = state()
    away.session = 'jonas'
    Object.assign(away.users.find((user) => user.id === 'jonas') ?? {}, { status: 'rejected' })
    visit = await open(away, { path: '/' })
    await heading('This account was not let in').waitFor()
    await visit.page.getByRole('button', { name: 'Sign out' }).click()
    await heading('Sign in').waitFor()
  })

  test('in a demo one chooses who to be, in this tab', async () => {
    visit = await open({ ...state(), demo: true, session: null }, { path: '/' })
    const { page, fake } = visit
    await heading('Who would you like to be?').waitFor()
    await page.getByRole('button', { name: /^Bob/ }).click()
    await row(page, 'l3').waitFor()
    await page.reload()
    await row(page, 'l3').waitFor()
    const asked = fake.requests.filter(
      (one) => one.path.startsWith('/api/bookmarks') || one.path === '/api/events',
    )
    expect(asked.length).toBeGreaterThan(1)
    expect(asked.every((one) => one.headers['x-demo-user'] === 'bob')).toBe(true)
    await page.getByRole('link', { name: 'Settings' }).first().click()
    await page.getByRole('button', { name: 'Be someone else' }).click()
    await heading('Who would you like to be?').waitFor()
  })

  test('a session that ends shows the door, and keeps what was being written', async () => {
    visit = await open(state())
    const { page, fake } = visit
    await page.getByRole('button', { name: 'More for RFC 9457' }).click()
    await page.getByRole('menuitem', { name: 'Add a note' }).click()
    await page.getByLabel('Note for everyone').fill('Half a thought')
    fake.state.session = null
    await page.getByRole('button', { name: 'Save', exact: true }).last().click()
    await heading('Sign in').waitFor()
    fake.state.session = 'alice'
    await page.reload()
    await page.getByRole('button', { name: 'More for RFC 9457' }).click()
    await page.getByRole('menuitem', { name: 'Add a note' }).click()
    expect(await page.getByLabel('Note for everyone').inputValue()).toBe('Half a thought')
  })

  test('settings: groups, members, read marks, tokens, people', async () => {
    visit = await open(state(), { path: '/settings' })
    const { page, fake } = visit
    await page.getByRole('button', { name: 'Members of Family' }).click()
    await page.getByLabel('Add someone by their email').fill('nobody@example.org')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByText('Nobody with that address has an account here.').waitFor()
    await page.getByLabel('Add someone by their email').fill('carol@example.org')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByRole('button', { name: 'Remove Carol' }).click()
    await page.getByRole('button', { name: 'Remove, really' }).click()
    await page.getByRole('button', { name: 'Remove Carol' }).waitFor({ state: 'detached' })

    await page.getByRole('switch', { name: 'Show the others which links I have read' }).last().check()
    await expect.poll(() => fake.state.groups[1]?.showing).toContain('alice')

    await page.getByRole('button', { name: 'New token' }).click()
    await page.getByLabel('What is it for?').fill('Weekly export')
    await page.getByRole('button', { name: 'Make the token' }).click()
    await page.getByText('Copy it now: it is shown once.').waitFor()
    await page.getByRole('button', { name: 'Revoke Phone shortcut' }).click()
    await page.getByRole('button', { name: 'Revoke Phone shortcut' }).waitFor({ state: 'detached' })

    await page.getByRole('button', { name: 'Let in Jonas Weber' }).click()
    await page.getByText('Jonas Weber is in').waitFor()
    expect(fake.state.users.find((user) => user.id === 'jonas')?.status).toBe('approved')

    await page.getByRole('button', { name: 'New group' }).click()
    await page.getByLabel('Name', { exact: true }).fill('Choir')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Nothing here yet' }).waitFor()
    await page.getByRole('button', { name: 'Choir' }).waitFor()
  })

  test('deleting the account needs the word, and ends at the door', async () => {
    visit = await open(state(), { path: '/settings' })
    const { page, fake } = visit
    await page.getByRole('button', { name: 'Delete my account' }).click({ force: true })
    expect(fake.state.users.some((user) => user.id === 'alice')).toBe(true)
    await page.getByLabel('Type delete to go on').fill('delete')
    await page.getByRole('button', { name: 'Delete my account' }).click()
    await heading('Sign in').waitFor()
    expect(fake.state.users.some((user) => user.id === 'alice')).toBe(false)
  })

  test('signing out with links still on the device asks first', async () => {
    visit = await open(state())
    const { page, context } = visit
    await row(page, 'l3').waitFor()
    await context.setOffline(true)
    await page.getByLabel('Link to save for Study group').fill('https://example.org/kept')
    await page.keyboard.press('Enter')
    await page.getByText('1 is waiting.').waitFor()
    await visit.fake.setDown(true)
    await page.keyboard.press('Escape')
    await page.getByRole('link', { name: 'Settings' }).first().click()
    await page.getByRole('button', { name: 'Sign out' }).click()
    const dialog = page.getByRole('dialog', { name: 'Sign out now?' })
    await dialog.getByText('1 link is still kept on this device only.').waitFor()
    await dialog.getByRole('button', { name: 'Stay' }).click()
    await dialog.waitFor({ state: 'detached' })
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Sign out')
  })
})
