import type { Clock } from '../../browser.ts'
import { type Failure, failureOf } from '../../http/failure.ts'
import { retryDelayMs } from '../../http/retry.ts'
import { createStore, type Store } from '../../store.ts'
import type { Uploaded } from '../contract.ts'
import type { PhotoUpload } from '../meals-api.ts'
import { type FoundTime, type Here, oldestFirst } from './found-time.ts'
import {
  BYTES_MAX,
  isDropped,
  isReady,
  isToUpload,
  isUnsent,
  type Row,
  rowOf,
  type UploadState,
  type When,
  type WhenSource,
} from './row.ts'
import { megabytes } from './row-words.ts'
import { change, nextUp, type Shifted, shifted, sinceOf, withUpload, withWhen } from './rows.ts'

export interface BatchState {
  rows: Row[]
  /** Photos whose times are being read; they have no rows yet, so that rows never change places. */
  reading: number
  /** Its person has said that the uploads may begin, and has not stopped them since. */
  isGoing: boolean
  /** The next one waits: nobody answered. */
  pausedUntilMs: number | null
}

const EMPTY: BatchState = { rows: [], reading: 0, isGoing: false, pausedUntilMs: null }

export interface BatchTools {
  clock: Clock
  random(): number
  newId(): string
  zone(): string
  upload(photo: PhotoUpload): Promise<Uploaded>
  findTime(file: File, here: Here): Promise<FoundTime>
  previewOf(file: File): string | null
  dropPreview(url: string): void
  /** An upload has ended, one way or the other: look at what the server has now, if it is there at all. */
  onEnded(): void
}

/**
 * The photos that somebody picked, from the picking until each is on the server: oldest first, one at a time.
 *
 * Lives as long as the page; closing the sheet changes nothing. Cut anywhere (the tab closed, the power gone): what was
 * answered with 202 is safe and goes on without this page; what was under way may have arrived, and picking it again is
 * answered "already logged"; the rest was never sent. A dropped connection leaves its row to be tried again, under the
 * same key. A full server (429, 503) holds the row and all behind it for as long as it asked for, whatever else happens
 * on the page. A session that ends (401) stops the uploads; they go on once its person is back.
 */
export class Batch {
  readonly state: Store<BatchState> = createStore(EMPTY)
  readonly #tools: BatchTools
  /** Who is signed in; nobody while the session is over. */
  #user: string | null = null
  /** Whose rows these are, also while nobody is signed in. */
  #owner: string | null = null
  /** Another one once these rows are let go: what was begun for them ends. */
  #life: object = {}
  #hold: Hold | null = null
  #refusals = 0
  readonly #since = new Map<string, When | null>()
  #isSending = false
  #wake = new AbortController()

  constructor(tools: BatchTools) {
    this.#tools = tools
  }

  /** Who is at this page now. Nobody: the photos wait for their person. Another: they are let go, and never leave it. */
  open(user: string | null): void {
    if (user === this.#user) return
    this.#user = user
    this.#wake.abort()
    if (user === null) return
    if (user !== this.#owner) this.forget()
    this.#owner = user
    void this.#send()
  }

  /** Nothing of the batch stays: its person has signed out on purpose. */
  forget(): void {
    this.#life = {}
    this.#wake.abort()
    for (const row of this.state.get().rows) this.#letGo(row)
    this.#hold = null
    this.state.set(EMPTY)
  }

  /** How many photos would be lost with the page. */
  get unsent(): number {
    return this.state.get().rows.filter(isUnsent).length
  }

  async pick(files: readonly File[]): Promise<void> {
    const { findTime, newId, previewOf, clock, zone } = this.#tools
    const life = this.#life
    this.#change({ reading: this.state.get().reading + files.length })
    const picked: (Parameters<typeof rowOf>[0] & { found: FoundTime })[] = []
    for (const file of files) {
      const found = await findTime(file, { nowMs: clock.nowMs(), zone: zone() })
      picked.push({ id: newId(), key: newId(), file, preview: previewOf(file), found })
    }
    if (life !== this.#life) return
    const { reading, rows, isGoing } = this.state.get()
    // They join what is going up now; beside a question that is still open, they wait for their own word.
    const isActive = rows.some((row) => row.upload.is === 'uploading' || isReady(row))
    this.#change({
      reading: reading - files.length,
      rows: [...rows, ...oldestFirst(picked).map(rowOf)],
      isGoing: isGoing && isActive,
    })
    void this.#send()
  }

  /** Begins, or goes on after a stop. */
  go(): void {
    this.#change({ isGoing: true })
    this.#wake.abort()
    void this.#send()
  }

  /** The one that is under way is finished; the next does not begin. */
  stop(): void {
    this.#change({ isGoing: false })
    this.#wake.abort()
  }

  setWhen(id: string, when: When, source: WhenSource): void {
    const key = this.#tools.newId()
    this.#rows((rows) => change(rows, id, (row) => withWhen(row, when, { source, key })))
    void this.#send()
  }

  /** The focus came into the fields of a row, or left them. */
  setBeingEdited(id: string, isBeingEdited: boolean): void {
    this.#rows((rows) => change(rows, id, (row) => ({ ...row, isBeingEdited })))
    if (!isBeingEdited) void this.#send()
  }

  /** The camera's clock was wrong by so many minutes. */
  shift(byMinutes: number): Omit<Shifted, 'rows'> {
    const { clock, newId } = this.#tools
    const result = shifted(this.state.get().rows, { byMinutes, nowMs: clock.nowMs(), newKey: newId })
    this.#change({ rows: result.rows })
    return { moved: result.moved, refused: result.refused }
  }

  leaveOut(id: string): void {
    const row = this.state.get().rows.find((one) => one.id === id)
    if (!row || row.upload.is === 'uploading') return
    this.#letGo(row)
    this.#rows((rows) => rows.filter((one) => one.id !== id))
    // Whoever is next says now why it waits.
    if (row.upload.is === 'paused') this.#wake.abort()
  }

  /** Their photos were taken back from the server. */
  dropEntries(entryIds: readonly string[]): void {
    const isGone = ({ upload }: Row) => upload.is === 'uploaded' && entryIds.includes(upload.entryId)
    for (const row of this.state.get().rows) if (isGone(row)) this.#letGo(row)
    this.#rows((rows) => rows.filter((row) => !isGone(row)))
  }

  /** Rows that are done with: the next batch begins with an empty list. */
  clearDone(): void {
    for (const row of this.state.get().rows) if (!isUnsent(row)) this.#letGo(row)
    this.#rows((rows) => rows.filter(isUnsent))
  }

  /** A dropped upload may have arrived, so it goes again under its key; what was refused is asked for anew. */
  tryAgain(ids: readonly string[]): void {
    this.#rows((rows) => rows.map((row) => (ids.includes(row.id) ? this.#anew(row) : row)))
    this.go()
  }

  #anew(row: Row): Row {
    const key = isDropped(row) ? row.key : this.#tools.newId()
    return { ...withUpload(row, { is: 'waiting' }), key }
  }

  /** The person has looked at both and wants this one too. A different request, so a different key. */
  logAnyway(id: string): void {
    const key = this.#tools.newId()
    this.#rows((rows) =>
      change(rows, id, (row) => ({ ...withUpload(row, { is: 'waiting' }), force: true, key })),
    )
    this.go()
  }

  /** The network is back: no reason to wait on, unless the server has asked for it. */
  wake(): void {
    this.#wake.abort()
  }

  async #send(): Promise<void> {
    if (this.#isSending) return
    this.#isSending = true
    const life = this.#life
    const isWanted = () => this.#life === life && this.#user !== null && this.state.get().isGoing
    let drops = 0
    try {
      while (isWanted()) {
        const row = nextUp(this.state.get().rows)
        if (!row) return
        if (await this.#isHeld(row)) continue
        const result = await this.#uploadOne(row)
        if (result.is === 'signed-out' || this.#life !== life) return
        drops = result.is === 'dropped' ? drops + 1 : 0
        if (result.is === 'dropped') await this.#pauseAfter(drops)
        if (result.is === 'held') this.#holdFor(row, result.failure)
        else this.#refusals = 0
      }
    } finally {
      this.#isSending = false
      this.#stopWhenDone()
      // Another batch began while the last answer of this one was on its way.
      if (this.#life !== life) void this.#send()
    }
  }

  async #uploadOne(row: Row): Promise<Sent> {
    let sent = 0
    this.#set(row.id, { is: 'uploading', sent })
    try {
      const answer = await this.#tools.upload({
        key: row.key,
        file: row.file,
        when: row.when,
        offset: isAsTaken(row) ? (row.taken?.offset ?? null) : null,
        zone: this.#tools.zone(),
        since: this.#sinceFor(row.key),
        force: row.force,
        onProgress: (bytes) => {
          sent = Math.min(bytes, row.file.size)
          this.#set(row.id, { is: 'uploading', sent })
        },
      })
      this.#set(row.id, afterAnswer(answer))
      this.#tools.onEnded()
      return { is: 'done' }
    } catch (error) {
      const failure = failureOf(error)
      if (failure.isBusy) return { is: 'held', failure }
      if (failure.status === 401) {
        this.#set(row.id, { is: 'waiting' })
        return { is: 'signed-out' }
      }
      if (failure.isUnreachable) {
        this.#set(row.id, { is: 'failed', why: { kind: 'dropped' }, sent })
        this.#tools.onEnded()
        return { is: 'dropped' }
      }
      this.#set(row.id, { is: 'failed', why: refusalOf(failure, row.file.size), sent })
      return { is: 'done' }
    }
  }

  /** As it was when this key was first used: a repeat must be the same request to the letter, or it is a conflict. */
  #sinceFor(key: string): When | null {
    const known = this.#since.get(key)
    if (known !== undefined) return known
    const since = sinceOf(this.state.get().rows)
    this.#since.set(key, since)
    return since
  }

  #holdFor(row: Row, { type, retryAfterMs }: Failure): void {
    const { clock, random, onEnded } = this.#tools
    this.#refusals += 1
    const wait = retryDelayMs({ failures: this.#refusals, retryAfterMs, random: random() })
    this.#hold = { untilMs: clock.nowMs() + wait, why: HELD[type] ?? 'busy' }
    this.#set(row.id, { is: 'paused', ...this.#hold })
    // The row says how many wait, and they may have been sent from elsewhere.
    onEnded()
  }

  /**
   * Waits while the server has no room, and answers whether it did. Woken early (the network is back, another row is
   * tried again) whoever is next waits for the rest of it.
   */
  async #isHeld(row: Row): Promise<boolean> {
    const hold = this.#hold
    const waitMs = hold === null ? 0 : hold.untilMs - this.#tools.clock.nowMs()
    if (hold === null || waitMs <= 0) return false
    this.#set(row.id, { is: 'paused', ...hold })
    const isOver = await this.#sleep(waitMs)
    if (isOver && this.#hold === hold) this.#hold = null
    return true
  }

  async #pauseAfter(drops: number): Promise<void> {
    if (!nextUp(this.state.get().rows)) return
    const { clock, random } = this.#tools
    const wait = retryDelayMs({ failures: drops, retryAfterMs: null, random: random() })
    this.#change({ pausedUntilMs: clock.nowMs() + wait })
    await this.#sleep(wait)
    this.#change({ pausedUntilMs: null })
  }

  /** Whether the time has passed: false when it was woken. */
  async #sleep(ms: number): Promise<boolean> {
    this.#wake = new AbortController()
    const { signal } = this.#wake
    await this.#tools.clock.sleep(ms, signal)
    return !signal.aborted
  }

  /** Nothing is left to go up: whatever is picked next waits for its own word. */
  #stopWhenDone(): void {
    const { rows, isGoing } = this.state.get()
    if (isGoing && !rows.some(isToUpload)) this.#change({ isGoing: false })
  }

  #set(id: string, upload: UploadState): void {
    this.#rows((rows) => change(rows, id, (row) => withUpload(row, upload)))
  }

  #rows(edit: (rows: Row[]) => Row[]): void {
    this.state.set((before) => ({ ...before, rows: edit(before.rows) }))
  }

  #change(part: Partial<BatchState>): void {
    this.state.set((before) => ({ ...before, ...part }))
  }

  #letGo(row: Row): void {
    if (row.preview !== null) this.#tools.dropPreview(row.preview)
  }
}

type Sent = { is: 'done' | 'dropped' | 'signed-out' } | { is: 'held'; failure: Failure }

interface Hold {
  untilMs: number
  why: 'full' | 'fast' | 'busy'
}

/** Why there is no room for a photo now; everything else is a busy moment. */
const HELD: Record<string, 'full' | 'fast'> = { 'queue-full': 'full', 'upload-rate': 'fast' }

/** The photo's own offset belongs to its own reading, and to no other. */
function isAsTaken({ taken, when }: Row): boolean {
  return taken !== null && taken.date === when.date && taken.time === when.time
}

function afterAnswer(answer: Uploaded): UploadState {
  if (answer.queued) return { is: 'uploaded', entryId: answer.entry.id }
  return {
    is: 'duplicate',
    of: answer.duplicate,
    mealId: answer.meal_id ?? answer.entry_id ?? null,
    at: { date: answer.date, time: answer.time },
  }
}

function refusalOf(failure: Failure, size: number): Extract<UploadState, { is: 'failed' }>['why'] {
  const { status, type, detail } = failure
  // Garner's own refusals say what they are; a proxy with a limit of its own answers a page.
  if (status === 413 && type === '') return { kind: 'refused', detail: tooLargeBetween(size) }
  if (status === 413) return size > BYTES_MAX ? { kind: 'too-large' } : { kind: 'not-a-picture', detail }
  if (status === 415) return { kind: 'not-a-picture', detail }
  return { kind: 'refused', detail }
}

function tooLargeBetween(size: number): string {
  return `A server between this page and Garner takes no files of ${megabytes(size)}. Whoever runs it can raise its limit.`
}
