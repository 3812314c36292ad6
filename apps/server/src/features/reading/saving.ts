import { type Around, type Database, Gathering, Refused, type Transaction } from '@garner/db'
import { type Job, OperationConflict, QueueFull, type Submission } from '@garner/jobs'
import { assertApproved } from '../../http.ts'
import { firstAnswer, type GivenAnswer, type Operation, remember } from '../../idempotency.ts'
import type { Principal } from '../../principal.ts'
import { forbidden, HttpProblem, notAMember, unauthenticated } from '../../problem.ts'
import { type BookmarkRow, searchLine, toBookmark } from './bookmark.ts'
import { type LinkDeps, titleSubmission } from './links.ts'
import type { ListReads } from './list-reads.ts'
import { grew } from './lists.ts'
import type { People } from './people.ts'
import { dress, findByPage } from './queries.ts'
import { insertRows } from './rows.ts'
import type { SavedBookmark } from './schemas.ts'
import { addTotals } from './totals.ts'

/**
 * Saves of links. Those that come together are one transaction (Gathering): who is asking and what they belong to is
 * read once for all of them, the list counts them together, and jobs and rows are written several a statement.
 *
 * Promises what each would have in a transaction of its own. The link, its job, the list's version and the remembered
 * answer are durable together or not at all (J1). Whoever has lost the right to save is refused, by what is in the
 * database as the transaction runs. Of two who save the same page at once the second finds the first one's link. A full
 * queue refuses one person's save (429) and none of the others'.
 * Cut before the commit: nothing is there and nobody was told yes. Cut after it: everything is, the worker finds the jobs,
 * and whoever sends a save again under its key gets the first answer.
 */
export interface SavingDeps extends LinkDeps {
  db: Database
  people: People
  around: Around
  lists: Pick<ListReads, 'wrote'>
  /** Told after a commit that something of this group can be seen to have changed. */
  onChange: (group: string) => void
  /** Told after a commit that there is work. */
  onWork: () => void
}

export interface Save {
  who: Principal
  /** Null without an Idempotency-Key. */
  operation: Operation | null
  link: NewLink
}

/** What is to be saved, checked as far as it can be without the database. */
export interface NewLink {
  /** Undefined: where this person's links go. */
  group: string | undefined
  url: string
  pageKey: string
  note: string
  browserTitle: string | null
  titleMode: 'ok' | 'timeout' | null
  force: boolean
}

export interface SaveAnswer extends GivenAnswer {
  /** Undefined for a repeat. */
  listVersion?: number
}

/** Errors of what it answers: what `authenticate` refuses, 403, QueueFull, OperationConflict; StoreUnavailable. */
export function createSaving(deps: SavingDeps): (save: Save) => Promise<SaveAnswer> {
  const saves = new Gathering<Save, SaveAnswer>(deps.db, (tx, all) => new Desk(tx, deps).take(all))
  return (save) => saves.make(save)
}

/** A save that has been found to be new, and is not written yet. */
interface Draft {
  /** Its place among the answers. */
  place: number
  operation: Operation | null
  owner: Principal
  row: BookmarkRow
  submission: Submission
}

/** The saves of one transaction. */
class Desk {
  readonly #tx: Transaction
  readonly #deps: SavingDeps
  readonly #answers: (SaveAnswer | Refused)[] = []
  #drafts: Draft[] = []
  /** What the drafts will be found by, once they are written. */
  readonly #drafted = new Set<string>()
  readonly #owners = new Map<Principal, Principal>()
  readonly #groups = new Map<string, string>()
  /** By person and group: whom to show no less than where the list stands then. */
  readonly #touched = new Map<string, { userId: string; group: string }>()

  constructor(tx: Transaction, deps: SavingDeps) {
    this.#tx = tx
    this.#deps = deps
  }

  async take(saves: Save[]): Promise<(SaveAnswer | Refused)[]> {
    for (const [place, save] of saves.entries()) {
      try {
        await this.#consider(place, save)
      } catch (error) {
        this.#answers[place] = refused(error)
      }
    }
    await this.#write()
    const { around, lists, onChange } = this.#deps
    for (const answer of this.#answers) {
      if (!(answer instanceof Refused)) await around('submit.before-commit', () => {})
    }
    this.#tx.afterCommit(() => {
      for (const { userId, group } of this.#touched.values()) {
        lists.wrote(userId, group)
        onChange(group)
      }
    })
    return this.#answers
  }

  /** Answers it, or makes it a draft. Throws what refuses it. */
  async #consider(place: number, save: Save): Promise<void> {
    const { operation, link } = save
    const owner = this.#owners.get(save.who) ?? (await this.#ownerOf(save.who))
    if (operation) {
      await this.#settle(operationKey(operation))
      const first = await firstAnswer(this.#tx, operation)
      if (first) {
        this.#answers[place] = first
        return
      }
    }
    const group = await this.#groupFor(owner, link.group)
    if (!link.force) {
      await this.#settle(pageKeyIn(group, link.pageKey))
      const known = await this.#findInTurn(group, link.pageKey)
      if (known) return this.#answerKnown(place, save, { owner, row: known })
    }
    this.#draft(place, save, { owner, group })
  }

  /** The person as the database has them in this transaction. Errors: 401, 403. */
  async #ownerOf(who: Principal): Promise<Principal> {
    const owner = await this.#deps.people.confirmed(this.#tx, who)
    if (!owner) throw unauthenticated()
    assertApproved(owner)
    this.#owners.set(who, owner)
    return owner
  }

  /** Where it goes. Errors: 403 unless they belong there. */
  async #groupFor({ userId }: Principal, wanted: string | undefined): Promise<string> {
    const { people } = this.#deps
    const key = `${userId} ${wanted ?? ''}`
    const known = this.#groups.get(key)
    if (known !== undefined) return known
    const group = wanted ?? (await people.defaultGroup(this.#tx, userId))
    if (group === null) {
      throw forbidden('You are in no group yet, so there is no list to save to.', 'not-a-member')
    }
    if (!(await people.membership(this.#tx, userId, group))) throw notAMember()
    this.#groups.set(key, group)
    return group
  }

  async #findInTurn(group: string, pageKey: string): Promise<BookmarkRow | undefined> {
    // Asked together: the second is read once the turn has come.
    const turn = this.#tx.takeTurn(`page ${group} ${pageKey}`)
    const [, found] = await Promise.all([turn, findByPage(this.#tx, group, pageKey)])
    return found
  }

  async #answerKnown(
    place: number,
    { operation }: Save,
    { owner, row }: { owner: Principal; row: BookmarkRow },
  ): Promise<void> {
    const [item] = await dress(this.#tx, this.#deps.people, [row], owner.userId)
    const body = JSON.stringify({ ...item!, duplicate: true } satisfies SavedBookmark)
    await this.#answer({ place, operation, owner, row }, { status: 200, body })
  }

  #draft(place: number, save: Save, { owner, group }: { owner: Principal; group: string }): void {
    const { ids, nowMs } = this.#deps
    const { link, operation } = save
    const row = newRow(link, { id: ids(), group, owner: owner.userId, nowMs: nowMs() })
    const submission = titleSubmission(this.#deps, row)
    row.job_id = submission.id
    this.#drafts.push({ place, operation, owner, row, submission })
    this.#drafted.add(pageKeyIn(group, link.pageKey))
    if (operation) this.#drafted.add(operationKey(operation))
  }

  /** Writes what is drafted if somebody looks for it now. */
  async #settle(key: string): Promise<void> {
    if (this.#drafted.has(key)) await this.#write()
  }

  /** Jobs, then the lists, then their links: the order in which all take their locks (links.ts). */
  async #write(): Promise<void> {
    const drafts = this.#drafts
    if (drafts.length === 0) return
    this.#drafts = []
    this.#drafted.clear()
    const jobs = await this.#submitted(drafts)
    const accepted: { draft: Draft; job: Job }[] = []
    for (const [n, job] of jobs.entries()) {
      const draft = drafts[n]!
      if (job instanceof Refused) this.#answers[draft.place] = job
      else accepted.push({ draft, job })
    }
    if (accepted.length === 0) return
    await this.#count(accepted.map(({ draft }) => draft))
    await insertRows(
      this.#tx,
      accepted.map(({ draft }) => draft.row),
    )
    for (const { draft, job } of accepted) {
      const { row, owner } = draft
      const item = toBookmark(row, {
        ...{ nameOf: () => owner.name, isRead: false, readBy: [], alsoSavedAs: null },
        job: { id: job.id, state: job.state },
      })
      await this.#answer(draft, { status: 201, body: JSON.stringify(item) })
    }
    this.#tx.afterCommit(this.#deps.onWork)
  }

  /** All jobs at once; only where somebody's line is full one by one, so that it is full for nobody else. */
  async #submitted(drafts: Draft[]): Promise<(Job | Refused)[]> {
    const { jobs } = this.#deps
    const submissions = drafts.map(({ submission }) => submission)
    try {
      return (await jobs.submitMany(this.#tx, submissions)).map(({ job }) => job)
    } catch (error) {
      if (!(error instanceof QueueFull)) throw error
      if (drafts.length === 1) return [new Refused(error)]
    }
    const answers: (Job | Refused)[] = []
    for (const one of submissions) {
      try {
        answers.push((await jobs.submit(this.#tx, one)).job)
      } catch (error) {
        answers.push(refused(error))
      }
    }
    return answers
  }

  /** Gives each row its version of the list, in their order, and counts them for the list and for their owners. */
  async #count(drafts: Draft[]): Promise<void> {
    const byGroup = Map.groupBy(drafts, ({ row }) => row.group_id)
    for (const [group, ofGroup] of byGroup) {
      let version = (await grew(this.#tx, this.#deps.tell, group, ofGroup.length)) - ofGroup.length
      for (const { row } of ofGroup) row.list_version = ++version
      for (const [userId, { length }] of Map.groupBy(ofGroup, ({ row }) => row.owner_id)) {
        await addTotals(this.#tx, { group, userId }, { links: length })
      }
    }
  }

  async #answer(
    { place, operation, owner, row }: Omit<Draft, 'submission'>,
    { status, body }: { status: number; body: string },
  ): Promise<void> {
    const { userId } = owner
    this.#touched.set(`${userId} ${row.group_id}`, { userId, group: row.group_id })
    if (operation) {
      const nowMs = this.#deps.nowMs()
      await remember(this.#tx, operation, { status, body, thing: row.id, nowMs })
    }
    this.#answers[place] = { status, body, isReplay: false, listVersion: row.list_version }
  }
}

/** What refuses one save and says nothing of the others. Anything else is thrown, and undoes the batch. */
function refused(error: unknown): Refused {
  if (error instanceof HttpProblem || error instanceof QueueFull || error instanceof OperationConflict) {
    return new Refused(error)
  }
  throw error
}

function operationKey({ userId, key }: Operation): string {
  return `answer ${userId} ${key}`
}

function pageKeyIn(group: string, pageKey: string): string {
  return `page ${group} ${pageKey}`
}

function newRow(
  { url, pageKey, note, browserTitle, titleMode }: NewLink,
  { id, group, owner, nowMs }: { id: string; group: string; owner: string; nowMs: number },
): BookmarkRow {
  const row: BookmarkRow = {
    id,
    group_id: group,
    owner_id: owner,
    url,
    page_key: pageKey,
    note,
    page_title: null,
    browser_title: browserTitle,
    hand_title: null,
    hand_title_by: null,
    title_status: 'pending',
    title_error: null,
    title_checked_at_ms: null,
    title_tries: 0,
    title_next_try_at_ms: null,
    shown: null,
    final_key: null,
    title_mode: titleMode,
    saved_at_ms: nowMs,
    edited_at_ms: null,
    edited_by: null,
    version: 1,
    source_version: 1,
    list_version: 0,
    job_id: null,
    search: '',
  }
  row.search = searchLine(row)
  return row
}
