import { describe, expect, test } from 'vitest'
import { startFakeVision } from '../cases/fake-vision.ts'
import { photoBytes } from '../cases/photo-cases.ts'
import { call } from './api.ts'
import { type GarnerProcess, runGarner, startGarner, tempDir, until } from './garner.ts'

/** What the processes say, with a real client and the stand-in provider: never the key, a picture or what was eaten. */
const KEY = 'sk-case-secret-123'
const SECRETS = /sk-case|secret-123|org-case|Case plate|grilled chicken|[A-Za-z0-9+/]{200,}/

async function upload(server: GarnerProcess, time: string, id = 'prv-location', name = 'gps.jpg') {
  const form = new FormData()
  form.set('photo', new Blob([photoBytes(id, name)]), name)
  form.set('date', '2026-08-01')
  form.set('time', time)
  const headers = { 'x-demo-user': 'alice' }
  const answer = await fetch(`${server.url}/api/auto-log`, { method: 'POST', headers, body: form })
  const body = (await answer.json()) as { entry: { id: string } }
  expect([answer.status, body]).toEqual([202, expect.objectContaining({ queued: true })])
  return body.entry.id
}

/** The photo as it ended, or as it waits after a failed call. */
function ended(server: GarnerProcess, id: string) {
  return until(
    async () => {
      const { body } = await call(`${server.url}/api/auto-log/pending`)
      const waits = body.entries.filter((one: { error: string | null }) => one.error !== null)
      return [...body.finished, ...waits].find((one: { id: string }) => one.id === id)
    },
    { timeoutMs: 30_000, what: () => `photo ${id} to end; Garner said: ${server.log}` },
  )
}

describe('prv-logs, prv-logs-debug', () => {
  test.for([
    { mode: 'ok', state: 'logged' },
    { mode: 'truncated-json', state: 'placeholder' },
    { mode: 'no-vision', state: 'placeholder' },
    { mode: '401-leaky', state: 'retrying' },
  ])('fake:$mode: nothing of it is in any log', async ({ mode, state }) => {
    const fake = await startFakeVision()
    const dataDir = tempDir()
    const env = {
      ...{ GARNER_VISION_URL: fake.url, GARNER_VISION_MODEL: `fake:${mode}`, GARNER_VISION_KEY: KEY },
      // The client's own switch for its debug log, which would show headers: it is not listened to.
      ...{ OPENAI_LOG: 'debug', DEBUG: '*' },
    }
    const server = await startGarner({ env, dataDir })
    expect((await ended(server, await upload(server, '13:37'))).state).toBe(state)
    expect(fake.calls[0]!.authorization).toBe(`Bearer ${KEY}`)
    await server.stop()
    expect(server.log).not.toMatch(SECRETS)
    expect(server.log).not.toMatch(/\[log_|sending request/)
    // What went well is counted and not written.
    if (mode !== 'ok') expect(server.log).toContain('attempt ended')

    const checked = await runGarner(['check', '--demo'], { ...env, GARNER_DATA: dataDir })
    expect(checked.code).toBe(0)
    expect(checked.stdout + checked.stderr).not.toMatch(SECRETS)
    expect(checked.stdout).toMatch(/^Vision: \w/m)
  })
})

describe('garner check', () => {
  test.for([
    { mode: 'ok', word: 'TULIP', says: 'Vision: works.' },
    { mode: 'ignores-image', word: undefined, says: 'Vision: sees nothing.' },
    { mode: '401-leaky', word: undefined, says: 'Vision: key refused.' },
    { mode: '429-quota', word: undefined, says: 'Vision: quota exceeded.' },
  ])('ai-image-ignored: fake:$mode: $says', async ({ mode, word, says }) => {
    const fake = await startFakeVision(word === undefined ? {} : { word })
    const env = {
      ...{ GARNER_VISION_URL: fake.url, GARNER_VISION_MODEL: `fake:${mode}`, GARNER_VISION_KEY: KEY },
      GARNER_DATA: tempDir(),
    }
    const checked = await runGarner(['check'], env)
    expect(checked.code).toBe(0)
    expect(checked.stdout).toContain(says)
    expect(checked.stdout + checked.stderr).not.toMatch(SECRETS)
  })

  test('without a provider it says so, and in demo mode that one is simulated', async () => {
    const GARNER_DATA = tempDir()
    expect((await runGarner(['check'], { GARNER_DATA })).stdout).toContain('Vision: not configured.')
    expect((await runGarner(['check', '--demo'], { GARNER_DATA })).stdout).toContain('Vision: simulated.')
  })

  test('a real provider’s key is refused in demo mode, which lets anyone be anyone', async () => {
    const env = { GARNER_VISION_URL: 'https://vision.example/v1', GARNER_VISION_KEY: KEY }
    const refused = await runGarner(['check', '--demo'], { ...env, GARNER_DATA: tempDir() })
    expect(refused.code).toBe(2)
    expect(refused.stderr).toContain('GARNER_VISION_KEY')
    expect(refused.stdout + refused.stderr).not.toMatch(SECRETS)
  })
})
