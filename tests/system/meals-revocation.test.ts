import { expect, test } from 'vitest'
import { startFakeVision } from '../cases/fake-vision.ts'
import { call } from './api.ts'
import { type GarnerProcess, startGarner, tempDir, until } from './garner.ts'
import { blobs, meals, sendPlate } from './photos.ts'
import { rows } from './rows.ts'

/** What the stand-in would have said of the plate: it must not be found anywhere. */
const SAID = 'Case plate'

/** A server and a worker of its own, with one photo of `user` whose call to the provider hangs. */
async function withHangingCall(user: string) {
  const fake = await startFakeVision()
  fake.hold()
  const dataDir = tempDir()
  const env = { GARNER_VISION_URL: fake.url, GARNER_VISION_MODEL: 'fake:ok', GARNER_LEASE_S: '10' }
  const server = await startGarner({ args: ['serve', '--demo'], dataDir, env })
  const worker = await startGarner({ args: ['work', '--demo'], dataDir, env })
  await sendPlate(server, 1, { user })
  await fake.waiting()
  return { fake, dataDir, server, worker }
}

function leftOf(dataDir: string, userId: string) {
  const of = (sql: string) => rows(dataDir, sql, userId).length
  return {
    meals: meals(dataDir).filter((one) => one.user_id === userId).length,
    blobs: blobs(dataDir).filter((key) => key.includes(userId)).length,
    pending: of("SELECT 1 FROM jobs WHERE tenant = ? AND state IN ('ready', 'running', 'dead')"),
    kept: of('SELECT 1 FROM photo_entries WHERE user_id = ? AND blob IS NOT NULL'),
  }
}

function expectSilentLogs(...processes: GarnerProcess[]): void {
  for (const { log } of processes) {
    expect(log).not.toContain(SAID)
    expect(log).not.toMatch(/[A-Za-z0-9+/]{200,}/)
  }
}

test('an account that is deleted while its call hangs: nothing of it is left, and the late answer brings nothing back', async () => {
  const { fake, dataDir, server, worker } = await withHangingCall('alice')
  const { id } = (await call(`${server.url}/api/me`, { user: 'alice' })).body
  const gone = await call(`${server.url}/api/me`, {
    ...{ method: 'DELETE', user: 'alice', body: { confirm: 'delete' } },
  })
  expect(gone.status).toBe(204)
  expect(leftOf(dataDir, id)).toEqual({ meals: 0, blobs: 0, pending: 0, kept: 0 })
  fake.release()
  // The worker has heard the answer, and goes on to the next one.
  await sendPlate(server, 2, { user: 'bob' })
  await until(() => meals(dataDir).length === 1, { what: () => `Bob's meal; ${worker.log}` })
  expect(leftOf(dataDir, id)).toEqual({ meals: 0, blobs: 0, pending: 0, kept: 0 })
  expect(rows(dataDir, 'SELECT 1 FROM photo_entries WHERE user_id = ?', id)).toEqual([])
  expectSilentLogs(server, worker)
})

test('an account that is rejected while its call hangs: no meal, no photo, nothing waits', async () => {
  const { fake, dataDir, server, worker } = await withHangingCall('bob')
  const { id } = (await call(`${server.url}/api/me`, { user: 'bob' })).body
  const rejected = await call(`${server.url}/api/admin/users/${id}/reject`, { method: 'POST', user: 'admin' })
  expect(rejected.status).toBe(200)
  fake.release()
  const nothing = { meals: 0, blobs: 0, pending: 0, kept: 0 }
  await until(() => JSON.stringify(leftOf(dataDir, id)) === JSON.stringify(nothing), {
    what: () => `an end of it: ${JSON.stringify(leftOf(dataDir, id))}; ${worker.log}`,
  })
  expect(fake.billed).toBe(1)
  expectSilentLogs(server, worker)
})
