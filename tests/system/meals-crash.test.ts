import { randomInt } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { seeded } from '../../packages/db/testing/seeded.ts'
import { type FakeVisionOptions, startFakeVision } from '../cases/fake-vision.ts'
import { call } from './api.ts'
import { type GarnerProcess, runGarner, startGarner, tempDir, until } from './garner.ts'
import { allowance, blobs, meals, sendPlate, settled, workToTheEnd } from './photos.ts'
import { rows } from './rows.ts'

/** Twenty photos, and a kill at every seam that stands on their way. */
const PHOTOS = 20
const SERVER_POINTS = ['photo.after-write', 'submit.before-commit', 'submit.after-commit', 'commit.sync']
const WORKER_POINTS = [
  ...[
    'claim.after-commit',
    'account.read',
    'allowance.reserve',
    'vision.before-call',
    'vision.after-response',
  ],
  ...['vision.after-settled', 'publish.before-commit', 'publish.after-commit'],
]

async function setUp(options: FakeVisionOptions & { unknown?: 'retry' } = {}) {
  const fake = await startFakeVision(options)
  const env = {
    ...{ GARNER_VISION_URL: fake.url, GARNER_VISION_MODEL: 'fake:ok', GARNER_LEASE_S: '10' },
    ...{ GARNER_RETRY_BASE_S: '1', GARNER_BILLING_UNKNOWN: options.unknown ?? 'degrade' },
  }
  return { fake, env, dataDir: tempDir() }
}

/** Sends a photo as a client does that knows nothing but that its connection broke: again, under the same key. */
async function sendUntilAnswered(server: () => Promise<GarnerProcess>, n: number): Promise<string> {
  for (let times = 0; times < 20; times++) {
    const { url } = await server()
    const answer = await sendPlate({ url }, n, { key: `photo-${n}` }).catch((error: unknown) => {
      if (error instanceof TypeError) return null // The connection broke.
      throw error
    })
    if (answer?.status === 202) return answer.body.entry.id
    if (answer && answer.status !== 503) throw new Error(`${answer.status}: ${answer.text}`)
  }
  throw new Error(`photo ${n} was never answered`)
}

/** All twenty are accepted by a server that is killed once at each of its seams. */
async function uploadThroughKills(dataDir: string, env: Record<string, string>, random: () => number) {
  const left = [...SERVER_POINTS]
  const start = (fault: string | undefined) =>
    startGarner({
      ...{ args: ['serve', '--demo'], dataDir },
      env: { ...env, ...(fault !== undefined && { GARNER_FAULT: fault }) },
    })
  // A commit's count begins before the first upload: with the start's own.
  const next = () => {
    const point = left.shift()
    const at = 1 + Math.floor(random() * 4) + (point === 'commit.sync' ? 4 : 0)
    return start(point && `${point}:kill@${at}`)
  }
  let kills = 0
  let running = next()
  const server = async () => {
    const garner = await running
    const isDead = await Promise.race([
      garner.exited.then(() => true),
      call(`${garner.url}/healthz`).then(
        () => false,
        () => true,
      ),
    ])
    if (isDead) {
      await garner.exited
      kills++
      running = next()
    }
    return running
  }
  const ids: string[] = []
  for (let n = 0; n < PHOTOS; n++) ids.push(await sendUntilAnswered(server, n))
  await (await running).stop()
  return { ids, kills }
}

/** A few photos for each seam: a worker that is killed at it, and then one that finds what is left. */
async function workThroughKills(server: GarnerProcess, env: Record<string, string>, random: () => number) {
  const ids: string[] = []
  let kills = 0
  let aheadS = 0
  const pass = (fault: string) => {
    const settings = { ...env, GARNER_DATA: server.dataDir, GARNER_FAULT: fault }
    aheadS += 60
    return runGarner(['step', '--demo', '--advance', String(aheadS)], settings)
  }
  for (const [n, point] of WORKER_POINTS.entries()) {
    const share = Math.ceil((PHOTOS - ids.length) / (WORKER_POINTS.length - n))
    for (let i = 0; i < share; i++) ids.push((await sendPlate(server, ids.length)).body.entry.id)
    const at = point === 'claim.after-commit' ? 1 : 1 + Math.floor(random() * share)
    if ((await pass(`${point}:kill@${at}`)).signal === 'SIGKILL') kills++
    await pass('')
  }
  await workToTheEnd(server.dataDir, env, aheadS)
  return { ids, kills }
}

async function sweptAtStart(dataDir: string, env: Record<string, string>, kept: string[]) {
  const server = await startGarner({
    ...{ args: ['serve', '--demo'], dataDir, env: { ...env, GARNER_CLOCK_ADVANCE_S: '7200' } },
  })
  await until(() => blobs(dataDir).length === kept.length, { what: () => `the sweep; ${server.log}` })
  expect(blobs(dataDir).sort()).toEqual(kept)
}

const seedOf = () => {
  const seed = Number(process.env.SEED ?? randomInt(2 ** 31))
  console.log(`SEED=${seed}`)
  return seeded(seed)
}

test('twenty photos, the server killed at each of its seams: each is accepted once, becomes a meal, and nothing else is left', async () => {
  const { fake, env, dataDir } = await setUp()
  const { ids, kills } = await uploadThroughKills(dataDir, env, seedOf())
  expect(kills).toBe(SERVER_POINTS.length)
  await workToTheEnd(dataDir, env)
  expect(
    meals(dataDir)
      .map(({ id }) => id)
      .sort(),
  ).toEqual([...new Set(ids)].sort())
  expect([ids.length, fake.billed, allowance(dataDir).used]).toEqual([PHOTOS, PHOTOS, PHOTOS])
  await sweptAtStart(dataDir, env, ids.map((id) => `alice/${id}`).sort())
}, 240_000)

describe('twenty photos, the worker killed at each of its seams', () => {
  test.each([
    { provider: 'that knows nothing of repeats', options: {} },
    {
      provider: 'that honours keys, calls repeated',
      options: { honoursKeys: true, unknown: 'retry' as const },
    },
    {
      provider: 'that works in the background',
      options: { background: true, honoursKeys: true, unknown: 'retry' as const },
    },
  ])(
    'with a provider $provider: 20 meals, 20 photos, at most 20 bills and uses',
    async ({ options }) => {
      const { fake, env, dataDir } = await setUp(options)
      const server = await startGarner({ args: ['serve', '--demo'], env, dataDir })
      const { ids, kills } = await workThroughKills(server, env, seedOf())
      expect(kills).toBe(WORKER_POINTS.length)
      const made = meals(dataDir)
      expect(made.map(({ id }) => id)).toEqual(ids)
      expect(blobs(dataDir).sort()).toEqual(ids.map((id) => `alice/${id}`).sort())
      const { used, reserved, unknown } = allowance(dataDir)
      if ('honoursKeys' in options) {
        expect(fake.billed).toBe(PHOTOS)
        expect(made.filter(({ estimate }) => estimate === 'estimated')).toHaveLength(PHOTOS)
      } else {
        expect(fake.billed).toBeLessThanOrEqual(PHOTOS)
        expect(used + reserved + unknown).toBeLessThanOrEqual(PHOTOS)
        expect(made.filter(({ estimate }) => estimate !== 'estimated' && estimate !== 'unknown')).toEqual([])
      }
      expect(rows(dataDir, "SELECT id FROM jobs WHERE state IN ('ready', 'running', 'dead')")).toEqual([])
      expect(rows(dataDir, 'PRAGMA foreign_key_check')).toEqual([])
    },
    240_000,
  )
})

test('upl-durable-202: 202, then killed at once: each of twenty photos is a meal with its picture', async () => {
  const { env, dataDir } = await setUp()
  const ids: string[] = []
  for (let n = 0; n < PHOTOS; n += 4) {
    const server = await startGarner({ args: ['serve', '--demo'], env, dataDir })
    const answers = await Promise.all([n, n + 1, n + 2, n + 3].map((one) => sendPlate(server, one)))
    await server.kill()
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 202, 202])
    ids.push(...answers.map(({ body }) => body.entry.id))
  }
  const server = await startGarner({ args: ['all', '--demo'], env, dataDir })
  await settled(server)
  expect(meals(dataDir).map(({ id }) => id)).toEqual(ids.sort())
  for (const id of ids) {
    const photo = await fetch(`${server.url}/api/photos/${id}`, { headers: { 'x-demo-user': 'alice' } })
    expect([photo.status, photo.headers.get('content-type')]).toEqual([200, 'image/jpeg'])
  }
}, 240_000)

test('a vision model that fails for ever with 500: 60 calls, 20 placeholders, the allowance back at 0', async () => {
  const { fake, env, dataDir } = await setUp()
  fake.setMode('500')
  const plain = { ...env, GARNER_VISION_MODEL: 'any' }
  const server = await startGarner({ args: ['serve', '--demo'], env: plain, dataDir })
  for (let n = 0; n < PHOTOS; n++) expect((await sendPlate(server, n)).status).toBe(202)
  await workToTheEnd(dataDir, plain)
  expect([fake.calls.length, fake.billed]).toEqual([60, 0])
  expect(
    meals(dataDir).filter(({ description }) => description === 'Photo meal — description pending'),
  ).toHaveLength(20)
  expect(allowance(dataDir)).toEqual({ used: 0, reserved: 0, unknown: 0 })
}, 240_000)

test('a save that fails six times: one call, one use, dead with its photo; the repair is not billed', async () => {
  const { fake, env, dataDir } = await setUp()
  const server = await startGarner({ args: ['serve', '--demo'], env, dataDir })
  const { id } = (await sendPlate(server, 1)).body.entry
  const step = async (n: number, fault: string) => {
    const asked = { ...env, GARNER_DATA: dataDir, GARNER_FAULT: fault }
    return JSON.parse((await runGarner(['step', '--demo', '--advance', String(n * 3_600)], asked)).stdout)
  }
  for (let n = 1; n <= 5; n++)
    expect(await step(n, 'publish.before-commit:fail')).toMatchObject({ claimed: 1, retried: 1 })
  expect(await step(6, 'publish.before-commit:fail')).toMatchObject({ claimed: 1, dead: 1 })
  const { body } = await call(`${server.url}/api/auto-log/pending`)
  expect(body).toMatchObject({ pending: 0, entries: [], finished: [{ id, state: 'dead' }] })
  expect([fake.billed, allowance(dataDir), blobs(dataDir), meals(dataDir)]).toEqual([
    ...[1, { used: 1, reserved: 0, unknown: 0 }, [`alice/${id}`], []],
  ])
  const [job] = rows<{ id: string }>(dataDir, "SELECT id FROM jobs WHERE kind = 'describe-photo'")
  const { body: seen } = await call(`${server.url}/api/admin/jobs/${job!.id}`, { user: 'admin' })
  expect(seen.attempts.map(({ outcome }: { outcome: string }) => outcome)).toEqual([
    ...[...Array(5).fill('retried'), 'dead'],
  ])
  expect((await call(`${server.url}/api/auto-log/${id}/retry`, { method: 'POST' })).status).toBe(202)
  expect(await step(7, '')).toMatchObject({ claimed: 1, published: 1 })
  expect([fake.billed, allowance(dataDir).used, meals(dataDir)]).toMatchObject([
    1,
    1,
    [{ id, estimate: 'estimated' }],
  ])
}, 240_000)
