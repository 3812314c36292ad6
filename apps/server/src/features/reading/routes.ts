import type { Around, Database, Transaction } from '@garner/db'
import type { AttemptRecord, Job, Json } from '@garner/jobs'
import { type App, approved } from '../../http.ts'
import { answerOnce, forgetThing, operationOf, sendAnswer } from '../../idempotency.ts'
import type { Principal } from '../../principal.ts'
import { badRequest, notFound } from '../../problem.ts'
import { cleanLine, cleanText } from '../../text.ts'
import { instant } from './bookmark.ts'
import { deleteLink, editLink, type LinkDeps, markRead, refreshLink, visibleLink } from './links.ts'
import { type ListRouteDeps, readList, refusalOf, sendList } from './list-route.ts'
import { standingOf } from './lists.ts'
import type { People } from './people.ts'
import { dress, findBookmark } from './queries.ts'
import { createSaving, type NewLink, type Save, type SaveAnswer } from './saving.ts'
import {
  type Bookmark,
  type BookmarkDetail,
  EditBookmark,
  ListQuery,
  MarkRead,
  SaveBookmark,
} from './schemas.ts'

export interface ReadingDeps extends LinkDeps, ListRouteDeps {
  db: Database
  people: People
  around: Around
  isDemo: boolean
  /** Tries that a title gets, for showing "try 2 of 4". */
  attemptsMax: number
  checkUrl: (text: string) => { ok: true; url: string } | { ok: false; message: string }
  /** Told after a commit that something of this group can be seen to have changed. */
  onChange: (group: string) => void
  /** Told after a commit that there is work. */
  onWork: () => void
  /** Counts a list read that is asked for; what it answers is called once, with how it ended. */
  onRead: () => (result: ReadResult) => void
}

export type ReadResult = 'hit' | 'coalesced' | 'origin' | 'stale' | 'rejected'

/** The routes of the reading list, under /api/bookmarks and, for old scripts, under /bookmarks. */
export function registerReading(app: App, deps: ReadingDeps): void {
  const save = createSaving(deps)
  for (const prefix of ['/api/bookmarks', '/bookmarks']) registerAt(app, prefix, { ...deps, save })
}

interface RouteDeps extends ReadingDeps {
  save: (save: Save) => Promise<SaveAnswer>
}

function registerAt(app: App, prefix: string, deps: RouteDeps): void {
  const { db, save } = deps

  app.post(
    prefix,
    { schema: { body: SaveBookmark }, config: { isConfirmed: true } },
    async (request, reply) => {
      const who = approved(request)
      const link = newLink(deps, request.body)
      const operation = operationOf(request, who.userId, request.body as Json)
      const answer = await deps.around('submit.after-commit', () => save({ who, link, operation }))
      if (answer.listVersion !== undefined) reply.header('x-garner-version', answer.listVersion)
      return sendAnswer(reply, answer)
    },
  )

  app.get(
    prefix,
    { schema: { querystring: ListQuery }, config: { isListRead: true } },
    async (request, reply) => {
      const who = approved(request)
      const ended = deps.onRead()
      try {
        const answer = await readList(deps, who, request)
        ended(answer.result)
        return sendList(reply, answer, deps)
      } catch (error) {
        ended('rejected')
        throw refusalOf(error)
      }
    },
  )

  app.get<{ Params: { id: string } }>(`${prefix}/:id`, async (request) => {
    const who = approved(request)
    const row = await findBookmark(db.read, request.params.id)
    if (!row || !(await deps.people.membership(db.read, who.userId, row.group_id))) throw notFound()
    const found = row.job_id === null ? undefined : await deps.jobs.get(row.job_id)
    const [item] = await dress(db.read, deps.people, [row], who.userId)
    return { ...item!, job: found ? toJobDetail(deps, found) : null } satisfies BookmarkDetail
  })

  app.patch<{ Params: { id: string }; Body: EditBookmark }>(
    `${prefix}/:id`,
    { schema: { body: EditBookmark } },
    async (request, reply) => {
      const who = approved(request)
      const { version, note, url, title } = request.body
      const edit = {
        version,
        note: note === undefined ? undefined : cleanText(note),
        url: url === undefined ? undefined : checkedUrl(deps, url),
        title: title === undefined ? undefined : cleanLine(title),
      }
      const { item, listVersion } = await submitting(deps, async (tx) => {
        const row = await visibleLink(tx, request.params.id, memberCheck(tx, deps, who))
        const current = async () => (await dress(tx, deps.people, [row], who.userId))[0]
        const next = await editLink(tx, deps, { row, by: who.userId, edit, current })
        // The remembered answer to the save describes what the link no longer is.
        if (edit.url !== undefined) await forgetThing(tx, row.id)
        tellAfter(tx, deps, { by: who, group: row.group_id })
        const [item] = await dress(tx, deps.people, [next], who.userId)
        return { item: item!, listVersion: next.list_version }
      })
      reply.header('x-garner-version', listVersion)
      return item
    },
  )

  app.patch<{ Params: { id: string }; Body: MarkRead }>(
    `${prefix}/:id/read`,
    { schema: { body: MarkRead } },
    async (request) => {
      const who = approved(request)
      return db.transaction(async (tx) => {
        const row = await visibleLink(tx, request.params.id, memberCheck(tx, deps, who))
        await markRead(tx, deps, { row, by: who.userId, isRead: request.body.is_read })
        tellAfter(tx, deps, { by: who, group: row.group_id })
        return (await dress(tx, deps.people, [row], who.userId))[0]
      })
    },
  )

  app.post<{ Params: { id: string } }>(`${prefix}/:id/refresh`, async (request, reply) => {
    const who = approved(request)
    if (request.body !== undefined && request.body !== null && JSON.stringify(request.body) !== '{}') {
      throw badRequest('A refresh has no body.')
    }
    const { id } = request.params
    const operation = operationOf(request, who.userId, { refresh: id })
    const answer = await submitting(deps, (tx) =>
      answerOnce(tx, { operation, nowMs: deps.nowMs() }, async () => {
        const row = await visibleLink(tx, id, memberCheck(tx, deps, who))
        const job = await refreshLink(tx, deps, row)
        tellAfter(tx, deps, { by: who, group: row.group_id })
        const [item] = await dress(tx, deps.people, [(await findBookmark(tx, id))!], who.userId, jobRef(job))
        return { status: 202, body: JSON.stringify(item), thing: id }
      }),
    )
    return sendAnswer(reply, answer)
  })

  app.delete<{ Params: { id: string } }>(`${prefix}/:id`, async (request, reply) => {
    const who = approved(request)
    const listVersion = await db.transaction(async (tx) => {
      const row = await visibleLink(tx, request.params.id, memberCheck(tx, deps, who))
      await deleteLink(tx, deps, row, who.userId)
      tellAfter(tx, deps, { by: who, group: row.group_id })
      return (await standingOf(tx, row.group_id)).version
    })
    return reply.code(204).header('x-garner-version', listVersion).send()
  })
}

function newLink(deps: ReadingDeps, body: SaveBookmark): NewLink {
  if (body.title_mode !== undefined && !deps.isDemo) {
    throw badRequest('title_mode is only for demo mode.', [
      { path: 'title_mode', message: 'is only for demo mode' },
    ])
  }
  const browserTitle = cleanLine(body.page_title ?? '')
  const url = checkedUrl(deps, body.url)
  return {
    group: body.group,
    url,
    pageKey: deps.pageKey(url),
    note: cleanText(body.note ?? ''),
    browserTitle: browserTitle === '' ? null : browserTitle,
    titleMode: body.title_mode ?? null,
    force: body.force ?? false,
  }
}

function checkedUrl(deps: ReadingDeps, text: string): string {
  const checked = deps.checkUrl(text)
  if (checked.ok) return checked.url
  throw badRequest(checked.message, [{ path: 'url', message: checked.message }])
}

/** One transaction that submits work, with the two seams around its commit. */
async function submitting<T>(deps: ReadingDeps, work: (tx: Transaction) => Promise<T>): Promise<T> {
  return deps.around('submit.after-commit', () =>
    deps.db.transaction(async (tx) => {
      const value = await work(tx)
      await deps.around('submit.before-commit', () => {})
      tx.afterCommit(deps.onWork)
      return value
    }),
  )
}

function memberCheck(
  tx: Transaction,
  deps: ReadingDeps,
  who: Principal,
): (group: string) => Promise<boolean> {
  return async (group) => (await deps.people.membership(tx, who.userId, group)) !== null
}

function tellAfter(
  tx: Transaction,
  deps: ReadingDeps,
  { by, group }: { by: Principal; group: string },
): void {
  tx.afterCommit(() => {
    deps.lists.wrote(by.userId, group)
    deps.onChange(group)
  })
}

function jobRef(job: Job): Bookmark['job'] {
  return { id: job.id, state: job.state }
}

function toJobDetail(
  deps: ReadingDeps,
  { job, attempts }: { job: Job; attempts: AttemptRecord[] },
): BookmarkDetail['job'] {
  const isWaiting = job.state === 'ready'
  return {
    ...{ id: job.id, state: job.state, generation: job.generation, attempts_max: deps.attemptsMax },
    attempts: attempts.map((one) => ({
      attempt: one.attempt,
      started_at: instant(one.startedAtMs),
      ended_at: instant(one.endedAtMs),
      outcome: one.outcome,
      error: one.error,
    })),
    next_try_at: isWaiting ? instant(job.runAtMs) : null,
  }
}
