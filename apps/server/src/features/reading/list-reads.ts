import type { Answer, Cache, LoadContext, Loaded } from '@garner/cache'
import type { Around, Clock, Database, Queryable } from '@garner/db'
import { type FirstLinks, readFirstPage } from './first-page.ts'
import { Answers, type ListPage } from './list-page.ts'
import { stampOf, versionIn } from './lists.ts'
import { OwnWrites } from './own-writes.ts'
import type { People } from './people.ts'
import { listBookmarks, type Page } from './queries.ts'
import type { Replica } from './replica.ts'
import type { Stamps } from './stamps.ts'

/**
 * How lists are read (C2 to C5): who may read them has been decided before.
 *
 * The first page of a group's list, without filters, is what everybody looks at: it is kept in `pages`, once for all
 * members, in one of four shapes per group (newest or oldest first, up to 50 or 200 links; other limits are a part of
 * one of them). What differs between members is written over it as it is sent. Everything else (a search, a filter by
 * oneself, later pages) is read for the one who asks, through `direct`: no copies, the same budget, the same patience,
 * the same read for all who ask the same at once.
 *
 * After a change: this process knows at once and waits for the new page, with the old one to fall back on; other
 * processes hear of it through the shared cache, or find it in the database (stamps.ts), or at the latest when their
 * copy is not fresh any more. Whoever made the change is never shown less, here by memory, elsewhere by the version
 * that their client sends.
 */
export interface ListReadsOptions {
  primary: Pick<Database, 'readWithin'>
  /** A copy that may lag behind; asked first where there is one. */
  replica?: Replica | undefined
  people: People
  clock: Clock
  around: Around
  pages: Cache<ListPage>
  direct: Cache<Uint8Array>
  stamps: Stamps
  /** A reader's patience, for everything together. */
  waitMs: number
  /** A load's own deadline: at the origin it is over by then, too. */
  loadMs: number
  /** Told of each read of the origin as it is sent. */
  onOrigin: () => void
}

export interface ListQuestion extends Page {
  /** The least list version that may be shown. */
  minVersion: number
  /** When it was asked, by the monotonic clock. */
  askedAtMs: number
  /** What the reader has already. */
  etag: string | undefined
}

export interface ListAnswer {
  /** null: what the reader has is right. */
  body: Uint8Array | null
  etag: string
  version: number
  result: Answer<unknown>['result']
  ageMs: number
  isCached: boolean
}

/** Lists up to 50 links are what the client opens with; 200 is the largest page there is. */
const SIZES = [50, 200] as const
const SHAPES = SIZES.flatMap((size) => [`newest ${size}`, `oldest ${size}`])

export class ListReads {
  readonly #options: ListReadsOptions
  readonly #own = new OwnWrites()
  readonly #answers = new Answers()
  readonly #telling = new Map<string, number>()

  constructor(options: ListReadsOptions) {
    this.#options = options
  }

  /**
   * Errors: BudgetSpent, LoadLate, LoadTimedOut, VersionBehind, each with `retryAfterMs`; StoreUnavailable. All within
   * the reader's patience.
   */
  async read(question: ListQuestion): Promise<ListAnswer> {
    const { asking, group, etag } = question
    const { stamp, isExact } = await this.#options.stamps.latest(group)
    const asked = stampOf({ version: question.minVersion })
    if (isExact && stamp < asked) throw new NotYet()
    // The list is where the reader saw it: nothing has to be read.
    if (isExact && etag === etagOf(stamp))
      return { ...described(stamp), body: null, result: 'hit', ageMs: 0, isCached: true }
    const minVersion = Math.max(asked, this.#own.floor(asking, group))
    const isOwn = this.#own.isAwaited(asking, group) || asked > stamp
    const need = { minVersion, floor: stamp, rank: isOwn ? ('own' as const) : ('read' as const) }
    const answer = await (isFirstPage(question) ? this.#first(question, need) : this.#direct(question, need))
    this.#own.seen(asking, group, answer.stamp)
    const isKnown = answer.result !== 'stale' && etag === etagOf(answer.stamp)
    const { body, ...rest } = answer
    return { ...described(answer.stamp), ...rest, body: isKnown ? null : body() }
  }

  /** This person's own write is durable, and `changed` was told so: they are not shown less from now on. */
  wrote(userId: string, group: string): void {
    this.#own.note(userId, group, this.#options.stamps.known(group))
  }

  /** A list stands at `stamp` now: older copies of it are outdated, here and wherever the shared cache is heard. */
  changed(group: string, stamp: number): void {
    this.#options.stamps.heard(group, stamp)
    const isTelling = this.#telling.has(group)
    this.#telling.set(group, stamp)
    if (!isTelling) void this.#tell(group)
  }

  /** One round at a time per list: a burst of saves is told as often as the shared cache can take it in. */
  async #tell(group: string): Promise<void> {
    for (let told = 0; ; ) {
      const version = this.#telling.get(group)!
      if (version <= told) break
      await Promise.all(SHAPES.map((key) => this.#options.pages.invalidate(key, { scope: group, version })))
      told = version
    }
    this.#telling.delete(group)
  }

  async #first(question: ListQuestion, need: Need): Promise<Found> {
    const { group, newestFirst, limit, asking } = question
    const size = SIZES.find((one) => limit <= one) ?? SIZES[1]
    const shape = `${newestFirst ? 'newest' : 'oldest'} ${size}`
    const links: FirstLinks = { group, newestFirst, size, shape }
    const { pages, people } = this.#options
    for (;;) {
      const { body, version, ageMs, result } = await pages.get(shape, {
        ...{ scope: group, ...need, waitMs: this.#waitMs(question) },
        load: (context) =>
          this.#load(group, context, async (query) => {
            const page = await readFirstPage(query, people, links)
            return { body: page, version: page.stamp }
          }),
      })
      if (body.group === group && body.shape === shape && body.stamp === version)
        return {
          stamp: version,
          ageMs,
          result,
          isCached: true,
          body: () => this.#answers.of(body, { asking, limit }),
        }
      // A copy of ours that somebody has put into another's place, or under another version, in the shared cache.
      await pages.forget(shape, { scope: group })
    }
  }

  async #direct(question: ListQuestion, need: Need): Promise<Found> {
    const { group, asking, unread, mine, q, after, limit, newestFirst } = question
    const { body, version, ageMs, result } = await this.#options.direct.get(
      JSON.stringify([asking, unread, mine, q, after, limit, newestFirst]),
      {
        ...{ scope: group, ...need, waitMs: this.#waitMs(question) },
        load: (context) =>
          this.#load(group, context, async (query) => {
            const { list, stamp } = await listBookmarks(query, this.#options.people, question)
            return { body: Buffer.from(JSON.stringify(list)), version: stamp }
          }),
      },
    )
    return { stamp: version, ageMs, result, isCached: false, body: () => body }
  }

  /**
   * One read of the origin: of the replica, if that has what is needed. Its place in the budget covers both, since the
   * look at a replica that is behind is one row. What is left of the load's time is all that either has: a load that was
   * given up would otherwise go on at the origin beyond its place.
   */
  #load<Body>(
    group: string,
    { minVersion, signal }: LoadContext,
    read: (query: Queryable) => Promise<Loaded<Body>>,
  ): Promise<Loaded<Body>> {
    const { around, replica, primary, onOrigin, loadMs, clock } = this.#options
    const untilMs = clock.monotonicMs() + loadMs
    const bounds = () => ({ maxMs: untilMs - clock.monotonicMs(), signal })
    return around('origin.read', async () => {
      onOrigin()
      const copy = await replica?.read({ group, minStamp: minVersion, bounds: bounds() }, read)
      return copy ?? primary.readWithin(bounds(), read)
    })
  }

  #waitMs({ askedAtMs }: ListQuestion): number {
    const { clock, waitMs } = this.#options
    return Math.max(0, waitMs - (clock.monotonicMs() - askedAtMs))
  }
}

/** The version that was asked for is not there yet, on the primary either. */
export class NotYet extends Error {
  readonly code = 'NOT_YET'
  constructor() {
    super('The list has not reached the version that was asked for.')
    this.name = 'NotYet'
  }
}

interface Need {
  minVersion: number
  floor: number
  rank: 'own' | 'read'
}

interface Found {
  stamp: number
  body: () => Uint8Array
  ageMs: number
  result: ListAnswer['result']
  isCached: boolean
}

function isFirstPage({ unread, mine, q, after }: Page): boolean {
  return !unread && !mine && after === undefined && q.trim() === ''
}

function described(stamp: number): { etag: string; version: number } {
  return { etag: etagOf(stamp), version: versionIn(stamp) }
}

function etagOf(stamp: number): string {
  return `W/"${stamp.toString(36)}"`
}
