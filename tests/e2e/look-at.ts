/**
 * A page through every look: a desk and a phone, by day and by night, and the narrowest phone. A picture for people,
 * nothing cut off, nothing that axe finds.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { SHOTS, type Visit } from './browser.ts'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/**
 * A desk and a phone, by day and by night; and the narrowest phone, on which everything has to fit. What is small is
 * seen on a desk by day and on a phone by night.
 */
const LOOKS = [
  { width: 1440, height: 900, scheme: 'light' },
  { width: 1440, height: 900, scheme: 'dark', isSecond: true },
  { width: 390, height: 844, scheme: 'dark' },
  { width: 390, height: 844, scheme: 'light', isSecond: true },
  { width: 320, height: 640, scheme: 'light' },
] as const

/**
 * Runs in the page: what reaches beyond the window's edge, save for the list of settings, which one can push; and what
 * a toast lies on that can be pressed. On phones rows go on behind it, as behind the save box.
 */
const CUT_OFF = `(() => {
  const beyond = [...document.querySelectorAll('button, a, input, textarea, form, h1, h2, p, li')].filter((one) => {
    const { right, width } = one.getBoundingClientRect()
    return width > 1 && right > innerWidth + 1 && !one.closest('.toc, .visually-hidden, .skip')
  })
  const page = document.documentElement.scrollWidth > innerWidth ? ['the page itself'] : []
  const toast = document.querySelector('.toast')?.getBoundingClientRect()
  const rows = innerWidth < 900 ? '' : ', .row button'
  const here = document.querySelector('dialog[open]') ? '.sheet-foot .btn, .buttons .btn' : '.save, .tabs a' + rows
  const covered = [...document.querySelectorAll(toast ? here : 'nothing')].filter((one) => {
    const { top, bottom, left, right } = one.getBoundingClientRect()
    return top < toast.bottom && toast.top < bottom && left < toast.right && toast.left < right
  })
  return [
    ...page,
    ...covered.map((one) => 'the toast covers ' + one.outerHTML.slice(0, 160)),
    ...beyond.map((one) => one.outerHTML.slice(0, 160)),
  ]
})()`

const RUN_AXE = `axe.run(document, { runOnly: { type: 'tag', values: ${JSON.stringify(TAGS)} } }).then(
  ({ violations, passes }) => [
    ...(passes.length > 10 ? [] : ['axe looked at next to nothing']),
    ...violations.map((one) => one.id + ': ' + one.nodes.map((node) => node.html.slice(0, 160)).join(' | ')),
  ],
)`

/** After the styles of the new size and scheme are in force. */
const NEXT_FRAME = 'new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))'

export interface Scene {
  /** What is open only at one size, such as a menu: opened and closed again at each. */
  open?: () => Promise<unknown>
  close?: () => Promise<unknown>
  /** A whole screen, photographed from top to bottom, rather than something small on one. */
  isScreen?: boolean
}

/** Takes the page as it stands through every look: a picture, nothing cut off, nothing that axe finds. */
export async function lookAt(
  page: Page,
  name: string,
  { open, close, isScreen = false }: Scene = {},
): Promise<void> {
  await page.evaluate(AXE)
  const found: string[] = []
  for (const { width, height, scheme, ...rest } of LOOKS) {
    if ('isSecond' in rest && !isScreen) continue
    await page.setViewportSize({ width, height })
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' })
    await open?.()
    await page.evaluate(NEXT_FRAME)
    const look = `${name}-${width}-${scheme}`
    await page.screenshot({ path: join(SHOTS, `${look}.png`), fullPage: isScreen })
    const wrong = await page.evaluate<string[]>(CUT_OFF)
    // For axe the narrowest phone is the other one again.
    if (width > 320) wrong.push(...(await page.evaluate<string[]>(RUN_AXE)))
    found.push(...wrong.map((words) => `${look}: ${words}`))
    await close?.()
  }
  await page.setViewportSize({ width: LOOKS[0].width, height: LOOKS[0].height })
  expect(found).toEqual([])
}

/** Nothing in the console, but for the answers that belong to the scene. */
export function expectQuietConsole(visit: Visit, expected: RegExp): void {
  expect([...visit.errors, ...visit.refusals.filter((words) => !expected.test(words))]).toEqual([])
}
