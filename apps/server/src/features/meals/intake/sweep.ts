import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock, Database, Transaction } from '@garner/db'
import { type JobStore, PENDING_STATES } from '@garner/jobs'
import type { ObjectEntry, Objects } from '../../../outbound/objects.ts'
import { diaryChanged } from '../diary.ts'
import { ROW_AFTER_BYTES_MS } from './accept.ts'
import type { EntryRow } from './entry.ts'

/**
 * Removes what interrupted work has left: bytes that no row leads to, uploads that were never read to their end, and
 * entries that wait for a job which is there no more. Nobody has ever been shown any of it.
 *
 * Never removes what a row leads to, or may still: a photo's bytes come first and its row within five minutes or never
 * (accept.ts), so bytes are left alone for a quarter of an hour. Bytes of an account that is gone go at once. Cut in the
 * middle: the rest goes the next time.
 */
export interface SweepDeps {
  db: Database
  clock: Clock
  objects: Objects
  jobs: Pick<JobStore<Transaction>, 'get'>
  incomingDir: string
}

/** 15 min: three times as long as a row may come after its bytes, since clocks may be apart. */
const ORPHAN_AFTER_MS = 3 * ROW_AFTER_BYTES_MS
/** 1 day: longer than the slowest line takes for 25 MB. */
const UPLOAD_MAX_MS = 24 * 3_600_000
/** 1 h: an entry and its job are there together from the first moment, so this is for what was cut in the middle. */
const JOBLESS_AFTER_MS = 3_600_000
/** So many at a time, for what is one question to the database. */
const PAGE = 200

export async function sweepPhotos(deps: SweepDeps): Promise<{ orphans: number }> {
  const orphans = await sweepOrphans(deps)
  await deps.objects.sweepIncoming()
  await sweepUploads(deps)
  await endJobless(deps)
  return { orphans }
}

async function sweepOrphans(deps: SweepDeps): Promise<number> {
  let orphans = 0
  let page: ObjectEntry[] = []
  const sweep = async () => {
    for (const { key } of await orphansAmong(deps, page)) {
      await deps.objects.remove(key)
      orphans++
    }
    page = []
  }
  for await (const entry of deps.objects.list()) {
    page.push(entry)
    if (page.length === PAGE) await sweep()
  }
  await sweep()
  return orphans
}

async function orphansAmong({ db, clock }: SweepDeps, entries: ObjectEntry[]): Promise<ObjectEntry[]> {
  if (entries.length === 0) return []
  const holes = (count: number) => Array.from({ length: count }, () => '?').join(', ')
  const keys = entries.map(({ key }) => key)
  const owners = [...new Set(entries.map(({ owner }) => owner))]
  const known = await db.read.all<{ blob: string }>(
    `SELECT blob FROM photo_entries WHERE blob IN (${holes(keys.length)})
     UNION SELECT blob FROM meals WHERE blob IN (${holes(keys.length)})`,
    ...[...keys, ...keys],
  )
  const people = await db.read.all<{ id: string }>(
    `SELECT id FROM users WHERE id IN (${holes(owners.length)})`,
    ...owners,
  )
  const kept = new Set(known.map(({ blob }) => blob))
  const here = new Set(people.map(({ id }) => id))
  const oldMs = clock.nowMs() - ORPHAN_AFTER_MS
  return entries.filter(({ key, owner, putAtMs }) => !kept.has(key) && (putAtMs < oldMs || !here.has(owner)))
}

async function sweepUploads({ clock, incomingDir }: SweepDeps): Promise<void> {
  const names = await readdir(incomingDir).catch(() => [])
  for (const name of names) {
    const path = join(incomingDir, name)
    const found = await stat(path).catch(() => undefined)
    if (found && found.mtimeMs < clock.nowMs() - UPLOAD_MAX_MS) await rm(path, { force: true })
  }
}

/**
 * An entry whose job is gone (the deletion of its account was begun and given up) or ended without showing it (its
 * last write failed, too) would wait for ever: it is dead, which its person sees and can mend.
 */
async function endJobless({ db, clock, jobs }: SweepDeps): Promise<void> {
  const waiting = await db.read.all<EntryRow>(
    "SELECT * FROM photo_entries WHERE state = 'waiting' AND accepted_at_ms < ?",
    clock.nowMs() - JOBLESS_AFTER_MS,
  )
  for (const entry of waiting) {
    const job = (await jobs.get(entry.job_id))?.job
    if (job && PENDING_STATES.includes(job.state)) continue
    const reason = job?.lastError ?? 'job_gone'
    await db.transaction(async (tx) => {
      const { changes } = await tx.run(
        `UPDATE photo_entries SET state = 'dead', reason = ?, last_error = ?, next_try_at_ms = NULL, ended_at_ms = ?
         WHERE id = ? AND job_id = ? AND state = 'waiting'`,
        ...[reason, reason, clock.nowMs(), entry.id, entry.job_id],
      )
      if (changes > 0) await diaryChanged(tx, entry.user_id)
    })
  }
}
