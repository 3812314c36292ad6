import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { FaultPoint } from '../faults.ts'
import type { EntryRow } from '../features/meals/intake/entry.ts'
import type { Pending } from '../features/meals/intake/schemas.ts'
import { type Answer, Harness, type HarnessOptions } from './harness.ts'
import { formOf, picturesHere, plate, ScriptedVision } from './photos.ts'

/** The whole Garner of harness.ts with a vision model that does as told, seen by somebody with photos. */
export class Diary {
  readonly vision = new ScriptedVision()
  harness!: Harness

  static async open({
    env,
    ...options
  }: HarnessOptions & { fault?: `${FaultPoint}:${string}` } = {}): Promise<Diary> {
    const diary = new Diary()
    const fault = options.fault === undefined ? {} : { GARNER_FAULT: options.fault }
    diary.harness = await Harness.open({
      ...options,
      ...{ vision: diary.vision, pictures: options.pictures ?? picturesHere(), env: { ...fault, ...env } },
    })
    return diary
  }

  /** Sends a photo as it is; by its number one of the drawn plates. */
  async send(
    photo: Uint8Array | number,
    fields: Record<string, string> = {},
    { as = 'alice', key, fileName }: { as?: string; key?: string; fileName?: string } = {},
  ): Promise<Answer> {
    const bytes = typeof photo === 'number' ? await plate(photo) : photo
    const form = formOf(bytes, fields, fileName === undefined ? {} : { fileName })
    const headers = {
      'x-demo-user': as,
      ...form.headers,
      ...(key !== undefined && { 'idempotency-key': key }),
    }
    return this.harness.app.inject({ method: 'POST', url: '/api/auto-log', headers, payload: form.payload })
  }

  /** Sends one of the drawn plates, at a minute of its own. Throws on anything but 202; answers its id. */
  async log(n: number, as = 'alice'): Promise<string> {
    const time = `${String(Math.floor(n / 60) % 24).padStart(2, '0')}:${String(n % 60).padStart(2, '0')}`
    const answer = await this.send(n, { date: '2025-12-31', time }, { as })
    if (answer.statusCode !== 202)
      throw new Error(`The photo was answered ${answer.statusCode}: ${answer.body}`)
    return answer.json().entry.id
  }

  async pending(as = 'alice'): Promise<Pending> {
    return (await this.harness.ask('GET', '/api/auto-log/pending', { as })).json()
  }

  /** All meals of the days that tests write about. */
  async meals(as = 'alice') {
    const answer = await this.harness.ask('GET', '/api/meals?from=2025-12-01&to=2026-01-02', { as })
    return answer.json().days.flatMap((day: { meals: object[] }) => day.meals)
  }

  async meal(id: string, as = 'alice') {
    return (await this.meals(as)).find((meal: { id: string }) => meal.id === id)
  }

  async allowance(as = 'alice') {
    return (await this.harness.ask('GET', '/api/allowance', { as })).json()
  }

  /** One worker pass over everything that is due, in real moments since pictures are read from disk. */
  async work(): Promise<string[]> {
    return this.harness.web.garner.worker.drain()
  }

  /** The same after everything that waits has become due. */
  async workLater(ms = 3_600_000): Promise<string[]> {
    this.harness.clock.advance(ms)
    return this.work()
  }

  entries(): Promise<EntryRow[]> {
    return this.harness.web.db.read.all<EntryRow>('SELECT * FROM photo_entries ORDER BY id')
  }

  async count(table: 'photo_entries' | 'meals' | 'jobs' | 'idempotency'): Promise<number> {
    const row = await this.harness.web.db.read.get<{ n: number }>(`SELECT count(*) AS n FROM ${table}`)
    return Number(row!.n)
  }

  /** The keys of all stored photos. */
  blobs(): string[] {
    const dir = join(this.harness.dataDir, 'photos')
    return foldersIn(dir).flatMap((owner) => foldersIn(join(dir, owner)).map((name) => `${owner}/${name}`))
  }

  /** Files that uploads have left. */
  left(): string[] {
    const { dataDir } = this.harness
    return [...foldersIn(join(dataDir, 'incoming')), ...foldersIn(join(dataDir, 'photos', '.incoming'), true)]
  }
}

function foldersIn(dir: string, isHidden = false): string[] {
  try {
    return readdirSync(dir)
      .filter((name) => isHidden || !name.startsWith('.'))
      .sort()
  } catch {
    return []
  }
}
