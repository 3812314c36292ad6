import type { Socket } from 'node:net'
import { systemClock } from '@garner/db'
import { buildConnector } from 'undici'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { pageKey } from '../../apps/server/src/features/reading/page-key.ts'
import { checkSavedUrl } from '../../apps/server/src/features/reading/saved-url.ts'
import { parseFetchAllow } from '../../apps/server/src/outbound/fetch-allow.ts'
import type { Dial, Lookup } from '../../apps/server/src/outbound/guard.ts'
import { HostGate } from '../../apps/server/src/outbound/host-gate.ts'
import { createPageFetcher } from '../../apps/server/src/outbound/page.ts'
import { caseNamed, casesOf, type Expected, type LinkCase, meets, outcomeOf } from './link-cases.ts'
import { type LinkServer, startLinkServer } from './link-server.ts'

/**
 * Every case of kind `url`, `pairs` and `resolver`. Name lookup and the opening of connections are replaced:
 * public addresses lead to the fixture server, 127.0.0.1 to its trap, and every address that would have been
 * connected to is written down.
 */
const clock = systemClock()

let server: LinkServer
beforeAll(async () => {
  server = await startLinkServer()
})
afterAll(() => server.stop())
beforeEach(() => server.reset())

const connect = buildConnector({ allowH2: false })

/** A fetcher on a made-up internet, and what it did there. */
function made({ lookup, allow = '' }: { lookup: Lookup; allow?: string }) {
  const asked: string[] = []
  const connected: string[] = []
  const dial: Dial = (options, addresses, callback) => {
    const { address } = addresses[0]!
    connected.push(...addresses.map((one) => one.address))
    const port = address.startsWith('127.') ? server.trapPort : server.port
    const there = { ...options, protocol: 'http:', hostname: '127.0.0.1', port: String(port) }
    return connect(there, callback) as unknown as Socket
  }
  const parsed = parseFetchAllow(allow)
  if (!parsed.ok) throw new Error(parsed.message)
  const fetcher = createPageFetcher({
    ...{ clock, deadlineMs: 5_000, allow: parsed.allow, gate: new HostGate(clock, { gapMs: 0 }), dial },
    lookup: async (hostname) => {
      asked.push(hostname)
      return lookup(hostname)
    },
  })
  const fetchPage = (url: string) => outcomeOf(fetcher.fetchPage(url, new AbortController().signal))
  return { fetchPage, asked, connected }
}

const addresses = (list: readonly string[]) =>
  list.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))

/** A resolver that knows these names and no others. */
function knowing(names: Record<string, readonly string[]>): Lookup {
  return async (hostname) => {
    const found = names[hostname.toLowerCase().replace(/\.$/, '')]
    if (!found) throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${hostname}`), { code: 'ENOTFOUND' })
    return addresses(found)
  }
}

const urlsOf = (one: LinkCase) =>
  (one.input.urls ?? [one.input.url!]).map((url) => url.replaceAll('{{trap}}', String(server.trapPort)))

/** What the cases of kind `url` are about, each by what it expects. */
const checks: Record<string, (one: LinkCase, expected: Expected) => Promise<void>> = {
  async fetched(one, expected) {
    const net = made({ lookup: knowing(one.input.resolver ?? {}) })
    const outcomes = []
    for (const url of urlsOf(one)) {
      expect(checkSavedUrl(url), `${url} may be saved`).toEqual({ ok: true, url })
      const outcome = await net.fetchPage(url)
      expect(meets(outcome, expected), `${url}: ${JSON.stringify(outcome)}: ${expected.text}`).toBe(true)
      outcomes.push(outcome)
    }
    if (expected.requests === 0) {
      expect(net.connected).toEqual([])
      expect((await server.hits()).__trap).toBeUndefined()
    }
    if (expected.outcome === 'refused') {
      for (const outcome of outcomes) expect(outcome).toEqual(outcomes[0])
    }
  },

  async rejected(one) {
    for (const url of urlsOf(one)) expect(checkSavedUrl(url), url).toMatchObject({ ok: false })
  },

  async saved(one, expected) {
    for (const url of urlsOf(one)) {
      expect(checkSavedUrl(url), url).toEqual({ ok: true, url: expected.saved_url ?? url })
      expect(() => pageKey(url)).not.toThrow()
    }
    if (expected.fetched_target_any) {
      const net = made({ lookup: knowing({ 'example.com': ['93.184.216.34'] }) })
      await net.fetchPage(one.input.url!)
      const targets = (await server.hits()).__unknown?.targets.map((target) => target.replace('GET ', ''))
      expect(targets).toHaveLength(1)
      expect(expected.fetched_target_any).toContain(targets![0])
    }
  },

  /** Rejected with a message, or saved and failed as a name that does not exist. */
  async eitherWay(one, expected) {
    const net = made({ lookup: knowing({}) })
    for (const url of urlsOf(one)) {
      if (!checkSavedUrl(url).ok) continue
      const outcome = await net.fetchPage(url)
      expect(
        expected.any_of!.some((choice) => meets(outcome, choice)),
        JSON.stringify(outcome),
      ).toBe(true)
    }
  },
}

function checkFor({ expect: expected }: LinkCase): (one: LinkCase, expected: Expected) => Promise<void> {
  if (expected.any_of) return checks.eitherWay!
  if (expected.saved) return checks.saved!
  return expected.outcome === 'rejected' ? checks.rejected! : checks.fetched!
}

describe('addresses that people save', () => {
  test.for(casesOf('url'))('$id: $what', (one) => checkFor(one)(one, one.expect))
})

describe('names that lead elsewhere', () => {
  test('every case of kind resolver has its test below', () => {
    expect(casesOf('resolver').map(({ id }) => id)).toEqual(['s-dns-rebind', 's-dns-mixed', 's-allow-list'])
  })

  test('s-dns-rebind: the address that was checked is the one that is connected to', async () => {
    const { input, expect: expected } = caseNamed('s-dns-rebind')
    const answers = [...input.answers!]
    const net = made({ lookup: async () => addresses(answers.shift() ?? []) })
    await net.fetchPage(input.url!)
    expect(net.connected).toEqual(expected.connects_to)
    expect(net.asked).toEqual(['rebind.example'])
    for (const address of expected.never_connects_to!) expect(net.connected).not.toContain(address)
    const hits = await server.hits()
    expect(hits.__trap?.requests ?? 0).toBe(expected.trap_hits)
    expect(hits.__unknown?.targets).toEqual(['GET /a'])
  })

  test('s-dns-rebind: asked again by a redirect, the new answer is checked again', async () => {
    const { input } = caseNamed('s-dns-rebind')
    const answers = [...input.answers!]
    const net = made({ lookup: async () => addresses(answers.shift() ?? []) })
    // This case redirects to a path, so to the same name; its second lookup is the second answer.
    expect(await net.fetchPage('http://rebind.example/f-redirect-raw-utf8')).toMatchObject({
      outcome: 'refused',
      error: 'blocked_address',
    })
    expect(net.asked).toHaveLength(2)
    expect(net.connected).toEqual(['93.184.216.34'])
  })

  test('s-dns-mixed: one private address among public ones refuses the name', async () => {
    const { input, expect: expected } = caseNamed('s-dns-mixed')
    const net = made({ lookup: async () => addresses(input.answers![0]!) })
    const outcome = await net.fetchPage(input.url!)
    for (const address of expected.never_connects_to!) expect(net.connected).not.toContain(address)
    expect(outcome).toMatchObject({ outcome: 'refused', error: 'blocked_address' })
  })

  test('s-allow-list: an exact host with its port is opened, and nothing else', async () => {
    const { input, expect: expected } = caseNamed('s-allow-list')
    const net = made({ lookup: knowing(input.answers_for!), allow: input.config!.allow.join(',') })
    const allowed = []
    for (const url of input.urls!) allowed.push((await net.fetchPage(url)).outcome !== 'refused')
    expect(allowed).toEqual(expected.allowed)
    expect(net.connected).toEqual(['192.168.1.20'])
  })
})

describe('the same page, or another one', () => {
  test.for(casesOf('pairs'))('$id: $what', ({ input, expect: expected }) => {
    for (const [one, other] of input.pairs!) {
      expect(pageKey(one) === pageKey(other), `${pageKey(one)} | ${pageKey(other)}`).toBe(expected.same)
    }
  })
})
