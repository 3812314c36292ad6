import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import type { Clock } from '../clock.ts'
import type { Database, Queryable, Value } from '../database.ts'
import { StoreUnavailable } from '../errors.ts'
import { leftOf } from '../read-bounds.ts'
import { translated } from './errors.ts'
import { GroupCommit } from './group-commit.ts'
import { Statements } from './statements.ts'
import { SqliteTransaction } from './transaction.ts'

export { type SyncStatements, syncOf } from './transaction.ts'

export interface SqliteOptions {
  /** A file's path, made with its folder when missing; `:memory:` for a database that ends with the process. */
  path: string
  clock: Clock
  /** How long a transaction waits for another process's write lock before StoreUnavailable. Default 2_000 ms. */
  busyMs?: number
  /**
   * Most memory for the page cache of each of the two connections, taken as it is needed. Default 16_000 KiB: lists
   * of a busy group are then read without asking the system. A worker does as well with 2_000.
   */
  cacheKiB?: number
  /** The seam for slow and failing disks: runs the COMMIT that syncs. Default: just runs it. */
  aroundCommit?: (effect: () => void) => void | Promise<void>
}

/**
 * Opens a SQLite file in WAL mode with `synchronous=FULL`: a transaction that has resolved survives power loss.
 * One connection writes (through group commit), a second one reads committed rows without waiting for the writer.
 * Errors: StoreUnavailable when the file cannot be opened.
 */
export function openSqlite({
  path,
  clock,
  busyMs = 2_000,
  cacheKiB = 16_000,
  aroundCommit,
}: SqliteOptions): Database {
  const inMemory = path === ':memory:'
  if (!inMemory) makeFolder(dirname(path))
  const writer = open(path, cacheKiB)
  const file = inMemory ? undefined : { path, inode: statSync(path).ino }
  const reader = inMemory ? writer : open(path, cacheKiB)
  if (!inMemory) reader.exec('PRAGMA query_only = ON; PRAGMA busy_timeout = 100')
  const assertSameFile = () => {
    if (file) assertInode(file.path, file.inode)
  }
  const onWriter = new Statements(writer)
  const onReader = inMemory ? onWriter : new Statements(reader)
  const snapshot = new Snapshot(reader, assertSameFile)

  const commits = new GroupCommit({
    db: writer,
    clock,
    busyMs,
    assertSameFile,
    commit: async (effect) => {
      await (aroundCommit ?? run)(effect)
      snapshot.end()
    },
    transaction: (seal) => new SqliteTransaction(onWriter, seal),
  })

  // In memory there is one connection, so reads take their turn among the transactions: never uncommitted rows.
  const read: Queryable = inMemory
    ? {
        all: (sql, ...params) => commits.submit((tx) => tx.all(sql, ...params)),
        get: (sql, ...params) => commits.submit((tx) => tx.get(sql, ...params)),
      }
    : {
        async all<R>(sql: string, ...params: Value[]) {
          snapshot.hold()
          return meant(() => onReader.of(sql).objects.all(...params) as R[])
        },
        async get<R>(sql: string, ...params: Value[]) {
          snapshot.hold()
          return meant(() => onReader.of(sql).objects.get(...params) as R | undefined)
        },
      }

  return {
    dialect: 'sqlite',
    read,
    readWithin(bounds, work) {
      const leftMs = leftOf(bounds, clock)
      return work({
        async all(sql, ...params) {
          leftMs()
          return read.all(sql, ...params)
        },
        async get(sql, ...params) {
          leftMs()
          return read.get(sql, ...params)
        },
      })
    },
    transaction: (work, { runsOnce = false } = {}) => commits.submit(work, runsOnce),
    async changeCounter() {
      if (inMemory) return (await read.get<{ n: number }>('SELECT total_changes() AS n'))!.n
      snapshot.checkFile()
      snapshot.end()
      return meant(() => Number(onReader.of('PRAGMA data_version').objects.get()!.data_version))
    },
    async close() {
      await commits.close()
      snapshot.end()
      if (reader !== writer && reader.isOpen) reader.close()
      if (writer.isOpen) writer.close()
    },
  }
}

/**
 * One read transaction for all reads of one callback of the event loop, its promises included. Taking and giving back
 * SQLite's read lock costs as much as a small read itself. It must not outlive the callback: the next one may answer a
 * person who has been told of a commit of another process meanwhile (C5). Ends with every commit of this process, too.
 */
class Snapshot {
  readonly #begin: StatementSync
  readonly #commit: StatementSync
  readonly #db: DatabaseSync
  readonly #assertSameFile: () => void
  #isHeld = false
  #isFileChecked = false

  constructor(db: DatabaseSync, assertSameFile: () => void) {
    this.#db = db
    this.#assertSameFile = assertSameFile
    this.#begin = db.prepare('BEGIN')
    this.#commit = db.prepare('COMMIT')
  }

  /** Errors: as `checkFile`. */
  hold(): void {
    if (this.#isHeld) return
    this.checkFile()
    if (!this.#db.isOpen) return
    this.#begin.run()
    this.#isHeld = true
    // The tick comes after all promises that are ready by then, those that follow from this read included.
    queueMicrotask(() => process.nextTick(() => this.end()))
  }

  end(): void {
    if (!this.#isHeld) return
    this.#isHeld = false
    if (this.#db.isOpen && this.#db.isTransaction) this.#commit.run()
  }

  /** Errors: StoreUnavailable when the file is not in its place any more; looked at once a turn of the event loop. */
  checkFile(): void {
    if (this.#isFileChecked) return
    this.#assertSameFile()
    this.#isFileChecked = true
    setImmediate(() => {
      this.#isFileChecked = false
    })
  }
}

function run(effect: () => void): void {
  effect()
}

/** A statement's errors as what they mean to its caller. */
function meant<T>(statement: () => T): T {
  try {
    return statement()
  } catch (error) {
    throw translated(error)
  }
}

function makeFolder(dir: string): void {
  try {
    mkdirSync(dir, { recursive: true })
  } catch (error) {
    throw new StoreUnavailable('missing', 'making the folder for its file', error)
  }
}

function open(path: string, cacheKiB: number): DatabaseSync {
  let db: DatabaseSync | undefined
  try {
    db = new DatabaseSync(path)
    // FULL, not NORMAL: in WAL mode NORMAL does not sync at commit, and a power cut would take back an answer.
    // 4000 pages (16 MiB) between checkpoints: at the default 1000 a burst of saves checkpoints at every fourth commit.
    // 64 MiB journal limit: after a burst the WAL shrinks again instead of staying at its largest.
    db.exec(`
      PRAGMA busy_timeout = 2000;
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = FULL;
      PRAGMA foreign_keys = ON;
      PRAGMA temp_store = MEMORY;
      PRAGMA cache_size = ${-Math.round(cacheKiB)};
      PRAGMA wal_autocheckpoint = 4000;
      PRAGMA journal_size_limit = 67108864;
    `)
    // From here on waiting for locks is done without blocking the event loop (group-commit.ts).
    db.exec('PRAGMA busy_timeout = 0')
    return db
  } catch (error) {
    db?.close()
    throw translated(error)
  }
}

/**
 * A deleted or replaced file keeps taking writes through the old handle, and they are gone with the process:
 * success must not be claimed for them. Costs one stat (about 2 µs).
 */
function assertInode(path: string, inode: number): void {
  const found = statSync(path, { throwIfNoEntry: false })?.ino
  if (found !== inode) throw new StoreUnavailable('missing', 'checking that its file is still in place')
}
