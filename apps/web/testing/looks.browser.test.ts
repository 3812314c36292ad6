import { mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { chromiumPath, row, stageForFile } from './browser.ts'
import { type FakeState, studyGroup } from './fake-state.ts'

/** Pictures of every screen, for people to compare with the design; not compared by the test, and not committed. */
const SHOTS = join(import.meta.dirname, '../test-results/shots')
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/** Runs in the page: what reaches beyond the window's edge, save for the list of settings, which one can push. */
function cutOff(): string[] {
  const controls = document.querySelectorAll('button, a, input, textarea, form, h1, h2, p')
  const beyond = [...controls].filter((one) => {
    const { right, width } = one.getBoundingClientRect()
    return width > 1 && right > innerWidth + 1 && !one.closest('.toc, .visually-hidden, .skip')
  })
  const page = document.documentElement.scrollWidth > innerWidth ? ['the page itself'] : []
  return [...page, ...beyond.map((one) => one.outerHTML.slice(0, 120))]
}

interface Scene {
  name: string
  path: string
  state?(state: FakeState): void
  act?(page: Page): Promise<void>
}

const details = async (page: Page) => {
  await row(page, 'l4').locator('.meta').click()
  await page.getByText('Try 4 of 4. Garner stopped here.').waitFor()
}
const SCENES: Scene[] = [
  { name: 'reading', path: '/reading/study', act: (page) => row(page, 'l3').waitFor() },
  { name: 'details', path: '/reading/study', act: details },
  {
    name: 'menu',
    path: '/reading/study',
    act: (page) => page.getByRole('button', { name: 'More for RFC 9457' }).click(),
  },
  {
    name: 'edit',
    path: '/reading/study',
    async act(page) {
      await page.getByRole('button', { name: 'More for RFC 9457' }).click()
      await page.getByRole('menuitem', { name: 'Add a note' }).click()
    },
  },
  {
    name: 'saved',
    path: '/reading/study',
    async act(page) {
      await page.getByLabel('Link to save for Study group').fill('https://example.org/fresh')
      await page.keyboard.press('Enter')
      await page.getByText('Saved to Study group').waitFor()
    },
  },
  { name: 'empty', path: '/reading/family' },
  { name: 'settings', path: '/settings', act: (page) => page.getByText('Jonas Weber').first().waitFor() },
  { name: 'sign-in', path: '/', state: (state) => Object.assign(state, { session: null }) },
  { name: 'set-up', path: '/', state: (state) => Object.assign(state, { session: null, setupNeeded: true }) },
  { name: 'waiting', path: '/', state: (state) => Object.assign(state, { session: 'jonas' }) },
]

describe.skipIf(chromiumPath === null)('how it looks and who can use it', { timeout: 60_000 }, () => {
  const open = stageForFile()
  beforeAll(() => void mkdirSync(SHOTS, { recursive: true }))

  // Each screen as on a desk by day and on a phone by night; the narrowest phone for those that have most to fit.
  const looks = SCENES.flatMap((scene) => [
    { ...scene, scheme: 'light' as const, width: 1440, height: 900 },
    { ...scene, scheme: 'dark' as const, width: 390, height: 844 },
  ])
  const narrow = SCENES.filter(({ name }) => ['reading', 'saved', 'settings'].includes(name)).map(
    (scene) => ({
      ...scene,
      scheme: 'light' as const,
      width: 320,
      height: 640,
    }),
  )

  test.each([...looks, ...narrow])(
    '$name passes axe and fits, $scheme, $width px',
    async ({ name, path, state, act, scheme, width, height }) => {
      const start = studyGroup(Date.now())
      state?.(start)
      const { page } = await open(start, { width, height, scheme, path })
      await act?.(page)
      await page.screenshot({ path: join(SHOTS, `${name}-${width}-${scheme}.png`) })
      expect(await page.evaluate(cutOff)).toEqual([])

      await page.evaluate(AXE)
      const found = await page.evaluate(async (tags) => {
        const axe = (window as unknown as { axe: typeof import('axe-core') }).axe
        const { violations } = await axe.run(document, { runOnly: { type: 'tag', values: tags } })
        return violations.map(
          (one) => `${one.id}: ${one.nodes.map((node) => node.html.slice(0, 140)).join(' | ')}`,
        )
      }, TAGS)
      expect(found).toEqual([])
    },
  )
})
