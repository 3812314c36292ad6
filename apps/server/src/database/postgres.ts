import { budgetMigrations, createPostgresLedger } from '@garner/cache/postgres'
import { type Clock, type Database, StoreUnavailable } from '@garner/db'
import {
  createPostgresStore,
  jobsMigrations,
  openPostgres,
  type PostgresDatabase,
  type PostgresOptions,
} from '@garner/jobs/postgres'
import type { Config } from '../config.ts'
import type { Backend } from '../database.ts'
import { createAround } from '../faults.ts'
import { backup, restore } from './dump.ts'
import { TABLES } from './tables.ts'

/**
 * 2 s to connect and 5 s for a statement, its waiting for locks included: somebody waits for the answer, and at more
 * the requests behind it pile up. 10 connections: more than two cores of a server can work on at once.
 */
const ANSWERING = { connectMs: 2_000, statementMs: 5_000, connections: 10 }
/** A replica that is slow or gone is given up soon: whoever waits for a list can still be answered by the primary. */
const FOLLOWING = { connectMs: 500, statementMs: 1_000, connections: 10 }
/** 10 min: an index over a large table takes its time, and so does waiting for another process that makes it. */
const MIGRATING = { connectMs: 10_000, statementMs: 600_000, connections: 2 }

/**
 * PostgreSQL: for several processes, on one machine or many. `?pgbouncer=true` in the address says that a pooler in
 * transaction mode stands before it; then nothing is prepared by name, work is found by polling alone, and rights that
 * another process has changed are noticed by their age.
 */
export const postgres: Backend = {
  migrations: [jobsMigrations, budgetMigrations, ...TABLES],
  open(config, clock) {
    const around = createAround(
      config.fault,
      clock,
      () => new StoreUnavailable('injected', 'syncing a commit'),
    )
    return opened(primaryOf(config), clock, {
      ...ANSWERING,
      aroundCommit: (effect) => around('commit.sync', effect),
    })
  },
  openForMigrations: (config, clock) => opened(primaryOf(config), clock, MIGRATING),
  openReplica: ({ replicaUrl }, clock) =>
    replicaUrl === null ? undefined : opened(replicaUrl, clock, FOLLOWING),
  createJobs: (db, { clock, isAhead, bounds }) =>
    createPostgresStore({
      db: asPostgres(db),
      bounds,
      clock: isAhead ? clock : undefined,
      // A title counts its list on. Of two batches that hold several lists each, one would wait for the other's.
      writesPerCommit: 1,
    }),
  listen: (db, channel, wake) => asPostgres(db).listen(channel, wake),
  createLedger: (db) => createPostgresLedger({ db }),
  backup,
  restore,
}

function opened(url: string, clock: Clock, options: Partial<PostgresOptions>): PostgresDatabase {
  const isPooled = new URL(url).searchParams.get('pgbouncer') === 'true'
  return openPostgres({ url, clock, isPooled, ...options })
}

function primaryOf({ database }: Config): string {
  if (database.dialect !== 'postgres') throw new TypeError('Not a configuration for PostgreSQL.')
  return database.url
}

function asPostgres(db: Database): PostgresDatabase {
  if (!('autocommit' in db)) throw new TypeError('Not a database of openPostgres.')
  return db as PostgresDatabase
}
