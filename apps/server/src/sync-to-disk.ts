import { closeSync, fsyncSync, openSync } from 'node:fs'

/** A file, or the names in a folder: what is there now survives a power cut once this returns. */
export function syncToDisk(path: string): void {
  const handle = openSync(path, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
