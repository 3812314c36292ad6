import { type Ends, endOf, noEnds } from '../fleet/ends.ts'
import type { Instance } from '../fleet/instance.ts'
import { metricsOf } from '../fleet/metrics.ts'
import { nowMs, originReads } from '../fleet/origin-log.ts'
import type { Place } from '../fleet/place.ts'

/** No copy is older than this, and each is fresh for half of it: the least that lets a whole round be over in time. */
export const MAX_STALE_S = 2
/** Until every copy has expired, whoever made it last, and every load is over: one may take two seconds, and half a one to stop. */
const EXPIRED_MS = MAX_STALE_S * 1_000 + 700

/** Readers who come at once, of a list whose copies have all expired. */
export interface Round {
  hasShared: boolean
  offered: number
  ends: Ends
  /** The longest that any of them waited. */
  longestMs: number
  /** So often a server did without the shared cache, since it did not hear from it in time. */
  unheard: number
  /** When the database was asked, by all instances, from the first reader on until all copies had expired again. */
  originReads: number[]
}

export interface Reading {
  place: Place
  /** Each gets as many readers as the others. */
  instances: readonly Instance[]
  group: string
  readers: number
  hasShared: boolean
}

/** Every instance has a copy from now on; ends when all of them have expired. */
export async function fillAndExpire(reading: Reading): Promise<void> {
  await burst({ ...reading, readers: reading.instances.length })
  await expired()
}

/** One round; all copies have expired when it begins, and again when it ends. */
export async function round(reading: Reading): Promise<Round> {
  const { hasShared, readers, place, instances } = reading
  const unheard = async () => (await metricsOf(instances))('garner_shared_cache_failures_total')
  const unheardBefore = await unheard()
  const fromMs = nowMs()
  const found = await burst(reading)
  await expired()
  return {
    ...{ hasShared, offered: readers, ...found, unheard: (await unheard()) - unheardBefore },
    originReads: originReads(place.logDir).filter((ms) => ms >= fromMs),
  }
}

async function burst({ instances, group, readers }: Reading): Promise<Pick<Round, 'ends' | 'longestMs'>> {
  const ends = noEnds()
  let longestMs = 0
  const path = `/api/bookmarks?group=${group}&sort=-saved_at`
  await Promise.all(
    Array.from({ length: readers }, async (_, n) => {
      const user = n % 2 === 0 ? 'alice' : 'bob'
      const fromMs = nowMs()
      const answer = await instances[n % instances.length]!.ask(path, { user }).catch(() => null)
      ends[answer ? endOf(answer) : 'lost']++
      longestMs = Math.max(longestMs, nowMs() - fromMs)
    }),
  )
  return { ends, longestMs }
}

function expired(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, EXPIRED_MS))
}
