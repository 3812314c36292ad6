import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { plate } from '../../apps/server/src/testing/photos.ts'
import { type Answer, type CallOptions, call } from './api.ts'
import { runGarner, until } from './garner.ts'
import { rows } from './rows.ts'

/** Photos of a Garner under test: sending them, and looking from outside at what has become of them. */
export interface SendOptions extends Pick<CallOptions, 'user' | 'timeoutMs'> {
  key?: string
}

/** Errors: when the connection breaks, and after 60 s. */
export async function sendPhoto(
  server: { url: string },
  photo: Uint8Array<ArrayBuffer>,
  fields: Record<string, string>,
  { user = 'alice', key, timeoutMs = 60_000 }: SendOptions = {},
): Promise<Answer> {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.set(name, value)
  form.set('photo', new Blob([photo]), 'photo.jpg')
  const headers: Record<string, string> = { ...(user !== null && { 'x-demo-user': user }) }
  if (key !== undefined) headers['idempotency-key'] = key
  const signal = AbortSignal.timeout(timeoutMs)
  const answer = await fetch(`${server.url}/api/auto-log`, { method: 'POST', headers, body: form, signal })
  const text = await answer.text()
  return { status: answer.status, headers: answer.headers, text, body: JSON.parse(text) }
}

/** One of the drawn plates, at a minute of its own. */
export async function sendPlate(
  server: { url: string },
  n: number,
  options: SendOptions = {},
): Promise<Answer> {
  return sendPhoto(server, await plate(n), minuteOf(n), options)
}

export function minuteOf(n: number): { date: string; time: string } {
  const two = (value: number) => String(value).padStart(2, '0')
  return { date: '2026-08-01', time: `${two(8 + Math.floor(n / 60))}:${two(n % 60)}` }
}

export interface MealRow {
  id: string
  user_id: string
  description: string
  estimate: string
  reason: string | null
  blob: string
}

export function meals(dataDir: string): MealRow[] {
  return rows<MealRow>(dataDir, 'SELECT * FROM meals ORDER BY id')
}

/** The keys of all stored photos; beside them, uploads that were not finished. */
export function blobs(dataDir: string): string[] {
  return folder(join(dataDir, 'photos')).flatMap((owner) =>
    folder(join(dataDir, 'photos', owner)).map((name) => `${owner}/${name}`),
  )
}

function folder(path: string): string[] {
  try {
    return readdirSync(path).filter((name) => !name.startsWith('.'))
  } catch {
    return []
  }
}

/** What is counted of everybody's allowance, whatever the day. */
export function allowance(dataDir: string): { used: number; reserved: number; unknown: number } {
  const [sum] = rows<{ used: number; reserved: number; unknown: number }>(
    dataDir,
    `SELECT coalesce(sum(used), 0) AS used, coalesce(sum(reserved), 0) AS reserved,
       coalesce(sum(unknown), 0) AS unknown FROM job_allowances`,
  )
  return sum!
}

/** Passes of a worker, each an hour further on, until one finds nothing to do. */
export async function workToTheEnd(dataDir: string, env: Record<string, string>, startS = 0): Promise<void> {
  for (let hour = 1; ; hour++) {
    const { stdout, stderr } = await runGarner(
      ['step', '--demo', '--advance', String(startS + hour * 3_600)],
      {
        ...{ ...env, GARNER_DATA: dataDir },
      },
    )
    if (stdout === '') throw new Error(stderr)
    if (JSON.parse(stdout).claimed === 0) return
    if (hour > 30) throw new Error(`Still something to do after ${hour} passes: ${stdout}`)
  }
}

/** Until all of a person's photos have ended. */
export function settled(server: { url: string; log: string }, user = 'alice'): Promise<Answer> {
  return until(
    async () => {
      const answer = await call(`${server.url}/api/auto-log/pending`, { user })
      return answer.body.pending === 0 ? answer : undefined
    },
    { timeoutMs: 60_000, everyMs: 50, what: () => `the photos of ${user}; Garner said: ${server.log}` },
  )
}
