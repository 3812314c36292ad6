import { rmSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Where this session's files and servers are. The session makes the folder and starts the servers; the processes
 * that it measures learn of them through one variable of the environment.
 */
export interface Place {
  /** For SQLite files, the cluster and Redis; on a disk, not in memory. */
  folder: string
  postgres: { port: number; user: string }
  redis: { port: number }
}

const VARIABLE = 'GARNER_BENCH_JOBS_PLACE'

/** Errors: Error when this process was not started by a session. */
export function place(): Place {
  const text = process.env[VARIABLE]
  if (!text) throw new Error('No session: this program is started by bench/jobs/run.ts.')
  return JSON.parse(text) as Place
}

/** For this process and those that it starts. */
export function setPlace(here: Place): void {
  process.env[VARIABLE] = JSON.stringify(here)
}

/** The path of a SQLite file of this session, with whatever was there before removed. */
export function freshFile(name: string): string {
  const path = fileAt(name)
  for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(path + suffix, { force: true })
  return path
}

export function fileAt(name: string): string {
  return join(place().folder, name)
}
