import type { Queryable, Transaction } from '@garner/db'

/** Where a list stands. */
export interface ListStanding {
  /** Counts every change of its links. */
  version: number
  /** Counts every change of read marks, and of who lets theirs be shown. */
  marksVersion: number
  links: number
}

/** Told, once it is durable, that a list stands at `stamp` now. */
export type Tell = (group: string, stamp: number) => void

const STANDING = 'SELECT version, marks_version AS "marksVersion", links FROM lists WHERE group_id = ?'
const CHANGED = `INSERT INTO lists (group_id, version, marks_version, links) VALUES (?, ?, 0, ?)
  ON CONFLICT (group_id) DO UPDATE
  SET version = lists.version + excluded.version, links = lists.links + excluded.links
  RETURNING version, marks_version AS "marksVersion"`
const MARKED = `INSERT INTO lists (group_id, version, marks_version, links) VALUES (?, 0, 1, 0)
  ON CONFLICT (group_id) DO UPDATE SET marks_version = lists.marks_version + 1
  RETURNING version, marks_version AS "marksVersion"`

/** A list that nobody has saved to stands at version 0. */
export async function standingOf(query: Queryable, group: string): Promise<ListStanding> {
  return (await query.get<ListStanding>(STANDING, group)) ?? { version: 0, marksVersion: 0, links: 0 }
}

/**
 * Counts a change of the list's links and answers the list's new version. In the same transaction as the change,
 * so nobody sees one without the other.
 */
export function changed(tx: Transaction, tell: Tell, group: string): Promise<number> {
  return counted(tx, tell, group, { steps: 1, links: 0 })
}

/** As `changed`, for links that come: each is a change, and the version that is answered is the last one's. */
export function grew(tx: Transaction, tell: Tell, group: string, links: number): Promise<number> {
  return counted(tx, tell, group, { steps: links, links })
}

/** As `changed`, for a link that goes. */
export function shrank(tx: Transaction, tell: Tell, group: string): Promise<number> {
  return counted(tx, tell, group, { steps: 1, links: -1 })
}

async function counted(
  tx: Transaction,
  tell: Tell,
  group: string,
  { steps, links }: { steps: number; links: number },
): Promise<number> {
  const now = (await tx.get<Versions>(CHANGED, group, steps, links))!
  tx.afterCommit(() => tell(group, stampOf(now)))
  return now.version
}

/** Counts a change of somebody's read marks, or of who lets theirs be shown. Answers where the list stands now. */
export async function marked(tx: Transaction, tell: Tell, group: string): Promise<number> {
  const stamp = stampOf((await tx.get<Versions>(MARKED, group))!)
  tx.afterCommit(() => tell(group, stamp))
  return stamp
}

type Versions = Pick<ListStanding, 'version' | 'marksVersion'>

/** 2^26 = 67 million changes of marks per list, and 2^27 of links, before a number in JavaScript is not exact. */
const MARKS = 2 ** 26

/**
 * Both versions as one number that grows with every change that anyone can see: what caches compare. A list that shows
 * `version` or a later one has a stamp of `stampOf({ version })` or more, and the other way round.
 */
export function stampOf({ version, marksVersion = 0 }: { version: number; marksVersion?: number }): number {
  return Math.min(version, MARKS * 2 - 1) * MARKS + Math.min(marksVersion, MARKS - 1)
}

/** The list version within a stamp. */
export function versionIn(stamp: number): number {
  return Math.floor(stamp / MARKS)
}
