/** The list of the demo's study group, as tests arrange it behind the page's back. */
import type { Page } from 'playwright-core'
import { call, type Item, list } from '../system/api.ts'

interface Garner {
  url: string
}

type Owned = Item & { owner: { id: string } }

/** Takes every link out of the study group, each as the one who saved it. */
export async function emptyTheList(garner: Garner): Promise<void> {
  for (const { id, owner } of (await list(garner)) as Owned[]) {
    const { status } = await call(`${garner.url}/api/bookmarks/${id}`, { method: 'DELETE', user: owner.id })
    if (status !== 204 && status !== 404) throw new Error(`${status} for the removal of ${id}`)
  }
}

/** Presses Ctrl+V with this in the clipboard, wherever the focus is. */
export async function pasteFromClipboard(page: Page, text: string): Promise<void> {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(text)})`)
  await page.keyboard.press('Control+V')
}
