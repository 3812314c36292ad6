import { systemClock } from '@garner/db'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseFetchAllow } from '../../apps/server/src/outbound/fetch-allow.ts'
import { HostGate } from '../../apps/server/src/outbound/host-gate.ts'
import { createPageFetcher } from '../../apps/server/src/outbound/page.ts'
import { caseNamed, casesOf, type LinkCase, meets, type Outcome, outcomeOf } from './link-cases.ts'
import { type LinkServer, startLinkServer } from './link-server.ts'

/**
 * Every case of kind `http`: canned answers, byte for byte, against the real fetcher over real sockets. The
 * allowance is for exactly the fixture's host and port; the trap beside it stands for a private service.
 */
const clock = systemClock()
const never = new AbortController().signal

let server: LinkServer
beforeAll(async () => {
  server = await startLinkServer()
})
afterAll(() => server.stop())

/** A case that can only end by the deadline need not wait for the 20 s of production. */
function deadlineMsOf(one: LinkCase): number {
  return one.expect.error === 'timeout' ? 1_500 : 20_000
}

function fetchIt(url: string, deadlineMs = 20_000): Promise<Outcome> {
  const allowed = parseFetchAllow(`127.0.0.1:${server.port}`)
  if (!allowed.ok) throw new Error(allowed.message)
  const fetcher = createPageFetcher({
    clock,
    deadlineMs,
    allow: allowed.allow,
    gate: new HostGate(clock, { gapMs: 0 }),
  })
  return outcomeOf(fetcher.fetchPage(url, never))
}

/** How far resident memory rose above where it began, in MiB, while `work` ran. */
async function rssGrowthMib<T>(work: Promise<T>): Promise<{ result: T; growthMib: number }> {
  const before = process.memoryUsage().rss
  let most = before
  const look = () => {
    most = Math.max(most, process.memoryUsage().rss)
  }
  const timer = setInterval(look, 5)
  try {
    const result = await work
    look()
    return { result, growthMib: (most - before) / 2 ** 20 }
  } finally {
    clearInterval(timer)
  }
}

describe('pages as servers really send them', () => {
  test.for(casesOf('http'))('$id: $what', { timeout: 40_000 }, async (one) => {
    const { expect: expected } = one
    await server.reset()
    const startedMs = clock.monotonicMs()
    const { result: outcome, growthMib } = await rssGrowthMib(
      fetchIt(server.addresses.get(one.id)!, deadlineMsOf(one)),
    )
    const tookMs = clock.monotonicMs() - startedMs

    const choices = expected.any_of ?? [expected]
    expect(
      choices.some((choice) => meets(outcome, choice)),
      `${JSON.stringify(outcome)}: ${expected.text}`,
    ).toBe(true)
    for (const part of [...(expected.title_has_none ?? []), '\ufffd'])
      expect(outcome.title ?? '').not.toContain(part)
    expect([...(outcome.title ?? '')].length).toBeLessThanOrEqual(expected.title_max_len ?? 500)
    expect(tookMs).toBeLessThanOrEqual(expected.max_ms ?? 30_000)
    if (expected.retry_gap_max_s)
      expect(outcome.retryAfterMs).toBeLessThanOrEqual(expected.retry_gap_max_s * 1000)
    if (expected.max_rss_growth_mib) expect(growthMib).toBeLessThanOrEqual(expected.max_rss_growth_mib)
    if (expected.final_path) expect(new URL(outcome.finalUrl!).pathname).toBe(expected.final_path)

    const hits = await server.hits()
    const mine = hits[one.id]
    if (expected.max_requests) expect(mine?.requests).toBeLessThanOrEqual(expected.max_requests)
    if (expected.max_sent_bytes) expect(mine?.sent ?? 0).toBeLessThanOrEqual(expected.max_sent_bytes)
    expect(hits.__trap?.requests ?? 0).toBe(expected.trap_hits ?? 0)

    // The worker is alive: the next page is fetched as if nothing had been.
    if (expected.worker === 'alive') {
      expect(await fetchIt(server.addresses.get('t-one-char')!)).toMatchObject({ outcome: 'ok', title: 'A' })
    }
  })

  test('d-same-destination: the second door leads to the same final address', async () => {
    const { input, expect: expected } = caseNamed('d-same-destination')
    const first = await fetchIt(server.addresses.get('d-same-destination')!)
    for (const path of input.also_save ?? []) {
      const second = await fetchIt(`${server.base}/d-same-destination${path}`)
      expect(second).toEqual(first)
      expect(new URL(second.finalUrl!).pathname).toBe(expected.final_path)
    }
  })

  test('s-error-oracle: open and closed private ports are refused alike, and without a connection', async () => {
    const { input, expect: expected } = caseNamed('s-error-oracle')
    await server.reset()
    const outcomes = []
    for (const url of input.urls!)
      outcomes.push(await fetchIt(url.replaceAll('{{trap}}', String(server.trapPort))))
    for (const outcome of outcomes) {
      expect(meets(outcome, expected), JSON.stringify(outcome)).toBe(true)
      expect(outcome).toEqual(outcomes[0])
    }
    expect((await server.hits()).__trap?.requests ?? 0).toBe(expected.requests)
  })
})
