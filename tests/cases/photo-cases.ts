import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/**
 * photos.jsonl: what goes wrong with photos of meals, one case a line. `source` is the public report that the case
 * restates. Where a case says nothing else, it is 2026-08-10T12:00:00Z and the person lives in Europe/Berlin. The
 * files of a case are in photos/<id>/; `lastModified` is the file's own time as a browser reports it.
 */
export interface ResolvedTime {
  date: string
  time: string | null
  offset?: string | null
  offset_one_of?: (string | null)[]
  instant?: string
  source?: string
  guess?: boolean
}

export type Rgb = [number, number, number]

export interface Stored {
  format?: string
  w?: number
  h?: number
  channels?: number
  corners?: { tolerance: number } & Record<'top_left' | 'top_right' | 'bottom_left' | 'bottom_right', Rgb>
  centre?: Rgb
  tolerance?: number
  red_rises?: number
  no_trailer?: boolean
  no_exif?: boolean
  no_xmp?: boolean
  no_orientation?: boolean
  must_not_contain?: string[]
}

/** The model to configure at the stand-in provider, and options of its mode. */
export interface ModelInCase {
  model: string
  [option: string]: string | number
}

export interface PhotoCase {
  id: string
  area: 'time' | 'duplicate' | 'format' | 'privacy' | 'upload' | 'worker' | 'ai' | 'quota' | 'account'
  what: string
  input: {
    files?: { name: string; mime?: string; lastModified?: string; from?: string }[]
    request?: { fields: { date: string; time: string } }
    now?: string
    vision?: ModelInCase
    variants?: { vision: ModelInCase }[]
  }
  expect: {
    text: string
    assert: {
      resolve?: (ResolvedTime | null)[]
      order?: string[]
      server_zones?: string[]
      or_api_status?: number
      api_status?: number
      statuses?: Record<string, number>
      status_one_of?: number[]
      stored?: Stored
      stored_each?: Stored
      stored_list?: [number, number][]
      max_ms?: number
      rss_growth_mb_max?: number
    }
  }
}

export const ZONE = 'Europe/Berlin'
export const UPLOADED_AT = '2026-08-10T12:00:00Z'

const folder = new URL('photos/', import.meta.url)

const all: PhotoCase[] = readFileSync(new URL('photos.jsonl', import.meta.url), 'utf8')
  .split('\n')
  .filter(Boolean)
  .map((line) => JSON.parse(line))

export function casesOf(...areas: PhotoCase['area'][]): PhotoCase[] {
  return all.filter(({ area }) => areas.includes(area))
}

export function caseNamed(id: string): PhotoCase {
  const found = all.find((one) => one.id === id)
  if (!found) throw new Error(`no case ${id} in photos.jsonl`)
  return found
}

/** Path of a case's file; `real` is the folder of real samples. */
export function photoPath(id: string, name: string): string {
  return fileURLToPath(new URL(`${id}/${name}`, folder))
}

export function photoBytes(id: string, name: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(readFileSync(photoPath(id, name)))
}
