import { Agent, request } from 'node:http'
import { expect, test } from 'vitest'
import { call, list, look, metric, save } from './api.ts'
import { startGarner, until } from './garner.ts'
import { pendingCount, rows } from './rows.ts'

const SAVES = 10_000
const BOUND = 200
/** Sockets at once: more would only wait in the kernel instead of here. */
const AT_ONCE = 200

interface Told {
  status: number
  type: string
  retryAfter: string
  problem: string
}

test('10,000 saves by alice while bob saves one: each accepted or refused as told, the bound holds, bob’s title comes', async () => {
  const server = await startGarner({
    args: ['all', '--demo'],
    env: { GARNER_MAX_PENDING: String(BOUND), GARNER_RETRY_BASE_S: '600' },
  })
  const flood = postMany(server, (n) => ({
    url: `https://flood.example/${n}`,
    group: 'study',
    // Sites that time out hold every slot of the worker, and their jobs stay pending for another try.
    title_mode: 'timeout',
  }))

  const depths: number[] = []
  let isOver = false
  const sampled = sampleWhile(
    () => !isOver,
    async () => {
      depths.push(pendingOf(server.dataDir, 'alice'), await pendingByMetrics(server))
    },
  )
  const answeredMs: number[] = []
  const probed = sampleWhile(
    () => !isOver,
    async () => {
      const startedMs = performance.now()
      expect((await call(`${server.url}/healthz`, { user: null, timeoutMs: 10_000 })).status).toBe(200)
      expect(
        (await call(`${server.url}/api/bookmarks?group=study&limit=10`, { timeoutMs: 10_000 })).status,
      ).toBe(200)
      answeredMs.push(performance.now() - startedMs)
    },
  )

  await until(() => pendingOf(server.dataDir, 'alice') === BOUND, {
    timeoutMs: 20_000,
    what: () => 'a full queue',
  })
  const { id } = await save(server, { url: 'https://calm.example/the-one' }, { user: 'bob' })
  const bobs = until(async () => (await look(server, id)).body.title_status === 'ready', {
    timeoutMs: 20_000,
  })

  const told = await flood
  await bobs
  isOver = true
  await Promise.all([sampled, probed])

  const accepted = told.filter((one) => one.status === 201)
  const refused = told.filter((one) => one.status !== 201)
  expect(accepted.length + refused.length).toBe(SAVES)
  expect(accepted.length).toBeGreaterThanOrEqual(BOUND)
  expect(refused.length).toBeGreaterThan(0)
  expect(refused.filter((one) => one.status !== 429)).toEqual([])
  expect(refused.filter((one) => !/^application\/problem\+json/.test(one.type))).toEqual([])
  expect(refused.filter((one) => !(Number(one.retryAfter) >= 1))).toEqual([])
  expect(refused.filter((one) => one.problem !== 'queue-full')).toEqual([])

  expect(depths.length).toBeGreaterThan(4)
  // Bob's one comes on top of what alice may have.
  expect(Math.max(...depths)).toBeLessThanOrEqual(BOUND + 1)
  expect(answeredMs.length).toBeGreaterThan(2)
  expect((await list(server)).length).toBe(accepted.length + 1)
  expect(await metric(server, 'garner_queue_rejections_total{reason="bound"}')).toBe(refused.length)
  expect(rows(server.dataDir, "SELECT 1 FROM bookmarks WHERE url LIKE 'https://flood%'")).toHaveLength(
    accepted.length,
  )
}, 120_000)

test('the bound over everybody holds too: when it is reached, a second person is refused and nothing of it stays', async () => {
  const server = await startGarner({
    args: ['serve', '--demo'],
    env: { GARNER_MAX_PENDING: '20', GARNER_MAX_PENDING_TOTAL: '30' },
  })
  const as = async (user: string) => {
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, n) =>
        call(`${server.url}/api/bookmarks`, {
          user,
          body: { url: `https://${user}.example/${n}`, group: 'study' },
        }),
      ),
    )
    return Map.groupBy(answers, (one) => one.status)
  }
  const alices = await as('alice')
  const bobs = await as('bob')
  expect([alices.get(201)?.length, alices.get(429)?.length]).toEqual([20, 20])
  expect([bobs.get(201)?.length, bobs.get(429)?.length]).toEqual([10, 30])
  expect(bobs.get(429)?.[0]?.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
  expect(pendingCount(server.dataDir)).toBe(30)
  expect(rows(server.dataDir, 'SELECT count(*) AS n FROM bookmarks')).toEqual([{ n: 30 }])
})

/** Alice's saves, all of them asked for at once; what each was told, in order. */
async function postMany(server: { url: string }, bodyOf: (n: number) => unknown): Promise<Told[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE })
  const { hostname, port } = new URL(server.url)
  const one = (n: number) =>
    new Promise<Told>((resolve, reject) => {
      const body = JSON.stringify(bodyOf(n))
      const sent = request(
        {
          ...{ agent, hostname, port, method: 'POST', path: '/api/bookmarks' },
          headers: {
            'content-type': 'application/json',
            'content-length': Buffer.byteLength(body),
            'x-demo-user': 'alice',
          },
        },
        (answer) => {
          let text = ''
          answer.setEncoding('utf8').on('data', (part: string) => {
            text += part
          })
          answer.on('error', reject)
          answer.on('end', () =>
            resolve({
              status: answer.statusCode ?? 0,
              type: answer.headers['content-type'] ?? '',
              retryAfter: answer.headers['retry-after'] ?? '',
              problem: answer.statusCode === 201 ? '' : JSON.parse(text).type,
            }),
          )
        },
      )
      sent.on('error', reject)
      sent.end(body)
    })
  try {
    return await Promise.all(Array.from({ length: SAVES }, (_, n) => one(n)))
  } finally {
    agent.destroy()
  }
}

function pendingOf(dataDir: string, tenant: string): number {
  const [row] = rows<{ n: number }>(
    dataDir,
    "SELECT count(*) AS n FROM jobs WHERE tenant = ? AND state IN ('ready', 'running')",
    tenant,
  )
  return row?.n ?? 0
}

async function pendingByMetrics(server: { url: string }): Promise<number> {
  const { text } = await call(`${server.url}/metrics`, { user: null })
  const counts = [...text.matchAll(/^garner_jobs\{.*state="(?:ready|running)"\} (\d+)$/gm)]
  return counts.reduce((sum, [, count]) => sum + Number(count), 0)
}

async function sampleWhile(isOn: () => boolean, sample: () => Promise<void>): Promise<void> {
  while (isOn()) {
    await sample()
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
