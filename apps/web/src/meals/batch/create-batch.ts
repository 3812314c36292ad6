import type { QueryClient } from '@tanstack/react-query'
import type { Browser } from '../../browser.ts'
import type { MealsApi } from '../meals-api.ts'
import { lookAtDiary } from '../queries.ts'
import { Batch } from './batch.ts'
import { findTime } from './found-time.ts'

/** What browsers show by themselves; HEIC is no part of it outside Safari, and gets a plain tile. */
const SHOWN = /^image\/(jpeg|png|webp|gif|avif)$/

export function createBatch(browser: Browser, api: MealsApi, queries: QueryClient): Batch {
  const { clock, random, newId } = browser
  return new Batch({
    clock,
    random,
    newId,
    findTime,
    zone: () => Intl.DateTimeFormat().resolvedOptions().timeZone,
    upload: (photo) => api.upload(photo),
    previewOf: (file) => (SHOWN.test(file.type) ? URL.createObjectURL(file) : null),
    dropPreview: (url) => URL.revokeObjectURL(url),
    onEnded: () => lookAtDiary(queries, ['photo', 'allowance']),
  })
}
