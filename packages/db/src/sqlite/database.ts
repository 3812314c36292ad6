import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import type { Clock } from '../clock.ts'
import type { Database, Queryable, Transaction, Value } from '../database.ts'
import { StoreUnavailable, TransactionClosed } from '../errors.ts'
import { translated } from './errors.ts'
import { GroupCommit } from './group-commit.ts'

export interface SqliteOptions {
  /** A file's path, made with its folder when missing; `:memory:` for a database that ends with the process. */
  path: string
  clock: Clock
  /** How long a transaction waits for another process's write lock before StoreUnavailable. Default 2_000 ms. */
  busyMs?: number
  /** The seam for slow and failing disks: runs the COMMIT that syncs. Default: just runs it. */
  aroundCommit?: (effect: () => void) => void | Promise<void>
}

/**
 * Opens a SQLite file in WAL mode with `synchronous=FULL`: a transaction that has resolved survives power loss.
 * One connection writes (through group commit), a second one reads committed rows without waiting for the writer.
 * Errors: StoreUnavailable when the file cannot be opened.
 */
export function openSqlite({ path, clock, busyMs = 2_000, aroundCommit }: SqliteOptions): Database {
  const inMemory = path === ':memory:'
  if (!inMemory) makeFolder(dirname(path))
  const writer = open(path)
  const file = inMemory ? undefined : { path, inode: statSync(path).ino }
  const reader = inMemory ? writer : open(path)
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
    transaction: (seal): Transaction => {
      // After a full or failing disk SQLite has rolled everything back, and a further statement would be committed
      // by itself: whoever catches the error and goes on must not get that far.
      const guarded = <T>(sql: string, statement: () => T): T => {
        if (seal.closed) throw new TransactionClosed(seal.closed)
        if (seal.failed) throw seal.failed
        if (!seal.hasWritten && !ONLY_READS.test(sql)) seal.hasWritten = true
        try {
          return statement()
        } catch (error) {
          if (error instanceof StoreUnavailable) seal.failed = error
          throw error
        }
      }
      return {
        all: async <R>(sql: string, ...params: Value[]) => guarded(sql, () => onWriter.all<R>(sql, params)),
        get: async <R>(sql: string, ...params: Value[]) => guarded(sql, () => onWriter.get<R>(sql, params)),
        run: async (sql, ...params) => guarded(sql, () => onWriter.run(sql, params)),
        afterCommit(then) {
          seal.hooks.push(then)
        },
      }
    },
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
          return onReader.all<R>(sql, params)
        },
        async get<R>(sql: string, ...params: Value[]) {
          snapshot.hold()
          return onReader.get<R>(sql, params)
        },
      }

  return {
    dialect: 'sqlite',
    read,
    transaction: (work, { runsOnce = false } = {}) => commits.submit(work, runsOnce),
    async changeCounter() {
      if (inMemory) return (await read.get<{ n: number }>('SELECT total_changes() AS n'))!.n
      assertSameFile()
      snapshot.end()
      return onReader.get<{ data_version: number }>('PRAGMA data_version', [])!.data_version
    },
    async close() {
      await commits.close()
      snapshot.end()
      if (reader !== writer && reader.isOpen) reader.close()
      if (writer.isOpen) writer.close()
    },
  }
}

/** What surely writes nothing; anything else counts as if it had (`INSERT … RETURNING` is read with `get`, too). */
const ONLY_READS = /^\s*SELECT\b/i

/**
 * One read transaction for all reads of one turn of the event loop. Taking and giving back SQLite's read lock costs
 * several system calls, more than a small read itself. Ends with the turn, and with every commit of this process,
 * so a read sees everything that was committed here, and elsewhere before this turn began.
 */
class Snapshot {
  readonly #begin: StatementSync
  readonly #commit: StatementSync
  readonly #db: DatabaseSync
  readonly #assertSameFile: () => void
  #isHeld = false

  constructor(db: DatabaseSync, assertSameFile: () => void) {
    this.#db = db
    this.#assertSameFile = assertSameFile
    this.#begin = db.prepare('BEGIN')
    this.#commit = db.prepare('COMMIT')
  }

  /** Errors: StoreUnavailable when the file is not in its place any more; looked at once a turn, as the lock is. */
  hold(): void {
    if (this.#isHeld) return
    this.#assertSameFile()
    if (!this.#db.isOpen) return
    this.#begin.run()
    this.#isHeld = true
    setImmediate(() => this.end())
  }

  end(): void {
    if (!this.#isHeld) return
    this.#isHeld = false
    if (this.#db.isOpen && this.#db.isTransaction) this.#commit.run()
  }
}

function run(effect: () => void): void {
  effect()
}

function makeFolder(dir: string): void {
  try {
    mkdirSync(dir, { recursive: true })
  } catch (error) {
    throw new StoreUnavailable('missing', 'making the folder for its file', error)
  }
}

function open(path: string): DatabaseSync {
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
      PRAGMA cache_size = -16000;
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

/** Prepared statements by their text. SQL is constant text in this code base, so the map stays small. */
class Statements {
  readonly #db: DatabaseSync
  readonly #prepared = new Map<string, StatementSync>()

  constructor(db: DatabaseSync) {
    this.#db = db
  }

  #prepare(sql: string): StatementSync {
    if (!this.#db.isOpen) throw new StoreUnavailable('closed', 'preparing a statement')
    let statement = this.#prepared.get(sql)
    if (!statement) {
      statement = this.#db.prepare(sql)
      // 500: lists with a varying number of placeholders would otherwise grow the map without end.
      if (this.#prepared.size >= 500) this.#prepared.delete(this.#prepared.keys().next().value!)
      this.#prepared.set(sql, statement)
    }
    return statement
  }

  all<R>(sql: string, params: Value[]): R[] {
    try {
      return this.#prepare(sql).all(...params) as R[]
    } catch (error) {
      throw translated(error)
    }
  }

  get<R>(sql: string, params: Value[]): R | undefined {
    try {
      return this.#prepare(sql).get(...params) as R | undefined
    } catch (error) {
      throw translated(error)
    }
  }

  run(sql: string, params: Value[]): { changes: number } {
    try {
      return { changes: Number(this.#prepare(sql).run(...params).changes) }
    } catch (error) {
      throw translated(error)
    }
  }
}
