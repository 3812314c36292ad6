import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Locator, Page } from 'playwright-core'
import { onTestFinished } from 'vitest'

/** Yesterday where the tests run: no photo of it is from the future, whatever the hour. */
export function yesterday(): string {
  const at = new Date(Date.now() - 86_400_000)
  return [at.getFullYear(), at.getMonth() + 1, at.getDate()].map((n) => String(n).padStart(2, '0')).join('-')
}

/** The name that a phone gives a photo of yesterday, `12:31`: the page reads the time from it. */
export const takenAt = (time: string): string =>
  `IMG_${yesterday().replaceAll('-', '')}_${time.replace(':', '')}00.jpg`

/** A grey pixel: as much of a picture as the page and the fake look at. */
export const PIXEL = Buffer.from('R0lGODlhAQABAIAAAICAgAAAACH5BAAAAAAALAAAAAABAAEAAAICRAEAOw==', 'base64')

/** As a browser's file input takes it. */
export const photo = (name: string) => ({ name, mimeType: 'image/jpeg', buffer: PIXEL })

/** Files on the disk, as they are dragged from a folder; gone after the test. */
export function onDisk(...names: string[]): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'garner-photos-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return names.map((name) => {
    const path = join(folder, name)
    writeFileSync(path, PIXEL)
    return path
  })
}

/** Drags files over something, as the desktop does: real drag events, with real files. */
export async function drag(page: Page, over: Locator, files: string[]) {
  const session = await page.context().newCDPSession(page)
  const box = await over.boundingBox()
  if (!box) throw new Error('drag: expected something to be seen, found nothing')
  const at = { x: box.x + box.width / 2, y: box.y + Math.min(box.height - 2, 12) }
  const data = { items: [], files, dragOperationsMask: 1 }
  const send = (type: 'dragEnter' | 'dragOver' | 'drop') =>
    session.send('Input.dispatchDragEvent', { type, ...at, data })
  await send('dragEnter')
  await send('dragOver')
  return { drop: () => send('drop') }
}

/** Copies a picture, with these words beside it, and presses Ctrl+V wherever the focus is. */
export async function pastePicture(page: Page, words?: string): Promise<void> {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.evaluate(async (text) => {
    const canvas = document.createElement('canvas')
    const picture = await new Promise<Blob>((resolve, reject) =>
      canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('no picture'))), 'image/png'),
    )
    const copied = { 'image/png': picture, ...(text !== undefined && { 'text/plain': text }) }
    await navigator.clipboard.write([new ClipboardItem(copied)])
  }, words)
  await page.keyboard.press('Control+V')
}
