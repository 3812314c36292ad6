import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { describeOnPostgres, temporaryPostgres } from '../../../db/testing/postgres.ts'
import { seeded } from '../../../db/testing/seeded.ts'
import { LEASE_MS, type OpenedStore, openStore, prepare } from './store.ts'
import type { Said } from './worker-process.ts'

/** 100 stops on each database: ten processes at a time, ten times each. */
const VICTIMS = 10
const STOPS_EACH = 10
/** Where in an attempt the stop falls: its handler alone takes 30 ms, so few stops come after its end. */
const WITHIN_MS = 30

describe('workers stopped for longer than their lease, 100 times at random points, and continued', () => {
  test('on SQLite', { timeout: 180_000 }, async () => {
    const dir = mkdtempSync(join(tmpdir(), 'garner-stopped-'))
    onTestFinished(() => rmSync(dir, { recursive: true }))
    await stopAndContinue(join(dir, 'jobs.sqlite'))
  })

  describeOnPostgres('on PostgreSQL', () => {
    let url: string
    beforeAll(async () => {
      url = await temporaryPostgres()
    })
    test('the same', { timeout: 180_000 }, () => stopAndContinue(url))
  })
})

async function stopAndContinue(address: string): Promise<void> {
  const opened = await openStore(address)
  await prepare(opened)
  const jobs = new Submitter(opened)
  const steady = await started(address, 'steady')
  const victims = await Promise.all(
    Array.from({ length: VICTIMS }, (_, n) => started(address, `victim-${n}`)),
  )
  const chance = seeded(20_261_129)
  await Promise.all(victims.map((victim) => stopAgainAndAgain(victim, jobs, chance)))
  await jobs.allEnded()

  const said = [steady, ...victims]
  expect(said.flatMap((one) => one.failures)).toEqual([])
  const refusals = () => said.reduce((sum, one) => sum + one.refused, 0)
  const counted = await refusalsCounted(opened, refusals)
  const refused = refusals()
  expect(counted).toBe(refused)
  // Were it none, no stop would have fallen inside an attempt, and nothing would have been tried here.
  expect(refused).toBeGreaterThan(0)
  await expectOneEndEach(opened, jobs)
  for (const one of said) one.kill()
  await opened.db.close()
}

/** The store's count once it is what the workers have said: one that was continued is refused, and says so, in its own time. */
async function refusalsCounted({ store }: OpenedStore, said: () => number): Promise<number> {
  for (let looks = 1; ; looks++) {
    const totals = await store.totals()
    const counted = totals.find((one) => one.name === 'stale_publications')?.value ?? 0
    if (counted === said() || looks === 100) return counted
    await pause(50)
  }
}

/** Each job has ended once: its row of notes, its result and its last attempt are of the same worker and epoch. */
async function expectOneEndEach({ db, store }: OpenedStore, jobs: Submitter): Promise<void> {
  const notes = await db.read.all<{ job_id: string; epoch: number; worker: string }>('SELECT * FROM notes')
  expect(notes.length).toBe(jobs.ids.length)
  for (const { job_id, epoch, worker } of notes) {
    const { job, attempts } = (await store.get(job_id))!
    expect([job.state, job.epoch, job.result]).toEqual(['succeeded', epoch, worker])
    const epochs = attempts.map((one) => one.epoch)
    expect(epochs).toEqual(Array.from({ length: epoch }, (_, n) => n + 1))
    expect(attempts.filter((one) => one.outcome === 'succeeded').map((one) => one.worker)).toEqual([worker])
    expect(await store.steps(job_id)).toMatchObject([{ name: 'part', state: 'settled' }])
  }
}

async function stopAgainAndAgain(victim: WorkerProcess, jobs: Submitter, chance: () => number) {
  for (let n = 0; n < STOPS_EACH; n++) {
    await victim.claimsOneOf(jobs)
    await pause(chance() * WITHIN_MS)
    victim.signal('SIGSTOP')
    await pause(LEASE_MS + 200)
    victim.signal('SIGCONT')
  }
}

class Submitter {
  readonly ids: string[] = []
  readonly #opened: OpenedStore

  constructor(opened: OpenedStore) {
    this.#opened = opened
  }

  async one(): Promise<void> {
    const id = `job-${String(this.ids.length).padStart(6, '0')}`
    this.ids.push(id)
    const job = { id, kind: 'note', tenant: 'alice', payload: null, deadlineMs: 3_600_000 }
    // A victim that is stopped while it commits holds the only write lock of SQLite until it goes on.
    for (;;) {
      try {
        await this.#opened.store.accept([job])
        return
      } catch (error) {
        if ((error as { code?: string }).code !== 'STORE_UNAVAILABLE') throw error
      }
    }
  }

  async allEnded(): Promise<void> {
    for (;;) {
      const counts = await this.#opened.store.counts()
      if (counts.every((one) => one.state === 'succeeded')) return
      await pause(50)
    }
  }
}

class WorkerProcess {
  refused = 0
  readonly failures: string[] = []
  #claims = 0
  readonly #process: ChildProcess

  constructor(process: ChildProcess) {
    this.#process = process
    process.on('message', (said: Said) => {
      if ('claimed' in said) this.#claims++
      if ('refused' in said) this.refused++
    })
    process.stderr!.on('data', (text: Buffer) => this.failures.push(text.toString()))
  }

  async claimsOneOf(jobs: Submitter): Promise<void> {
    const before = this.#claims
    while (this.#claims === before) {
      await jobs.one()
      await pause(60)
    }
  }

  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#process.kill(signal)
  }

  kill(): void {
    this.#process.kill('SIGKILL')
  }
}

async function started(address: string, name: string): Promise<WorkerProcess> {
  const path = fileURLToPath(new URL('./worker-process.ts', import.meta.url))
  const child = fork(path, [address, name], { stdio: ['ignore', 'inherit', 'pipe', 'ipc'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const process = new WorkerProcess(child)
  await once(child, 'message')
  return process
}
