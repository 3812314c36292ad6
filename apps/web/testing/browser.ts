import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import { type FakeApi, startFakeApi } from './fake-api.ts'
import type { FakeState } from './fake-state.ts'

const PLACES = [
  process.env.CHROMIUM ?? '',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]

/** Where a Chromium is, or null: then the browser tests say so and are left out. */
export const chromiumPath: string | null = PLACES.find((path) => path !== '' && existsSync(path)) ?? null
if (chromiumPath === null) {
  console.warn(
    'No chromium found (CHROMIUM, /usr/bin/chromium): the browser tests of the client are left out.',
  )
}

const ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

export interface Look {
  width?: number
  height?: number
  scheme?: 'light' | 'dark'
  path?: string
}

export interface Visit {
  fake: FakeApi
  page: Page
  context: BrowserContext
  /** What the page complained about: errors thrown, and nothing else. */
  errors: string[]
  close(): Promise<void>
}

type Open = (state: FakeState, look?: Look) => Promise<Visit>

/**
 * The client, built as for production, and a browser to open it with: both for the whole file. Call it once, inside the
 * describe. After each test its visits are closed, and no page may have thrown.
 */
export function stageForFile(): Open {
  let stage: Stage
  const visits = new Set<Visit>()
  beforeAll(async () => {
    stage = await setStage()
  }, 60_000)
  afterEach(async () => {
    const errors = [...visits].flatMap((visit) => visit.errors)
    for (const visit of visits) await visit.close()
    visits.clear()
    expect(errors).toEqual([])
  })
  afterAll(() => stage?.close())
  return async (state, look) => {
    const visit = await stage.open(state, look)
    visits.add(visit)
    return visit
  }
}

interface Stage {
  open: Open
  close(): Promise<void>
}

async function setStage(): Promise<Stage> {
  const dist = await mkdtemp(join(tmpdir(), 'garner-web-'))
  const vite = join(dirname(createRequire(import.meta.url).resolve('vite/package.json')), 'bin/vite.js')
  const root = dirname(import.meta.dirname)
  await promisify(execFile)(
    process.execPath,
    [vite, 'build', root, '--outDir', dist, '--logLevel', 'error'],
    {
      cwd: root,
      env: { ...process.env, NODE_ENV: 'production' },
    },
  )
  const browser: Browser = await chromium.launch({ executablePath: chromiumPath ?? '', args: ARGS })
  return {
    async open(state, look = {}) {
      const fake = await startFakeApi({ state, dist })
      const { width = 1440, height = 900, scheme = 'light', path = '/reading/study' } = look
      const context = await browser.newContext({
        viewport: { width, height },
        colorScheme: scheme,
        reducedMotion: 'reduce',
        locale: 'en-GB',
      })
      const page = await context.newPage()
      page.setDefaultTimeout(10_000)
      const errors: string[] = []
      page.on('pageerror', (error) => errors.push(error.message))
      await page.goto(fake.url + path)
      await page.locator('h1').first().waitFor()
      return {
        fake,
        page,
        context,
        errors,
        async close() {
          await context.close()
          await fake.close()
        },
      }
    },
    async close() {
      await browser.close()
      await rm(dist, { recursive: true, force: true })
    },
  }
}

/** A paste outside every field, as the browser sends it. */
export async function paste(page: Page, text: string): Promise<void> {
  await page.evaluate((words) => {
    const clipboardData = new DataTransfer()
    clipboardData.setData('text', words)
    document.body.dispatchEvent(
      new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }),
    )
  }, text)
}

export const row = (page: Page, id: string) => page.locator(`[data-link="${id}"]`)
