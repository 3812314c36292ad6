import { hash } from 'node:crypto'

/**
 * Where a photo is served, for its meal and, under the same id, for the entry that still waits: a page that has
 * shown one need not load the other. `v` stands for the picture: as long as it is the same, so are the bytes.
 */
export function photoUrl(id: string, blob: string): string {
  return `/api/photos/${id}?v=${photoVersion(blob)}`
}

export function photoVersion(blob: string): string {
  return hash('sha256', blob, 'hex').slice(0, 12)
}
