import { createServer } from 'node:http'
import { type AddressInfo, Socket } from 'node:net'
import { ManualClock, systemClock } from '@garner/db'
import { describe, expect, test } from 'vitest'
import { isPublic, parseAddress } from './addresses.ts'
import { FetchAllow, parseFetchAllow } from './fetch-allow.ts'
import { checkTarget, dial, guardedConnector } from './guard.ts'
import { HostGate } from './host-gate.ts'
import { createPageFetcher } from './page.ts'

const none = new FetchAllow()

function allowing(text: string): FetchAllow {
  const parsed = parseFetchAllow(text)
  if (!parsed.ok) throw new Error(parsed.message)
  return parsed.allow
}

const codeOf = (act: () => void): string | undefined => {
  try {
    act()
  } catch (error) {
    return (error as { code?: string }).code
  }
  return undefined
}
const refusal = (url: string, allow = none) => codeOf(() => checkTarget(new URL(url), allow))

describe('which addresses are public', () => {
  test.for(
    '8.8.8.8 1.1.1.1 93.184.216.34 172.32.0.1 2606:4700::1111 2a00:1450:4001::200e ::ffff:8.8.8.8 64:ff9b::808:808'.split(
      ' ',
    ),
  )('%s is', (text) => expect(isPublic(parseAddress(text)!)).toBe(true))

  test.for(
    (
      '0.0.0.0 0.1.2.3 10.0.0.1 100.64.0.1 100.100.100.200 127.0.0.1 127.255.255.254 168.63.129.16 169.254.1.1 ' +
      '172.16.0.1 172.31.255.255 192.0.0.1 192.0.2.1 192.88.99.1 192.168.0.1 198.18.0.1 198.19.255.255 198.51.100.1 ' +
      '203.0.113.1 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255 :: ::1 ::7f00:1 ::ffff:127.0.0.1 ' +
      '::ffff:a00:1 64:ff9b::7f00:1 64:ff9b::a9fe:a9fe 64:ff9b:1::808:808 100::1 2001::1 2001:2::1 2001:db8::1 ' +
      '2001:10::1 2002:7f00:1:: 2002:808:808:: 3fff::1 4000::1 5f00::1 fc00::1 fd00:ec2::254 fe80::1 fec0::1 ff02::1'
    ).split(' '),
  )('%s is not', (text) => expect(isPublic(parseAddress(text)!)).toBe(false))

  test('other spellings of an address are the address by the time they are looked at', () => {
    for (const host of [
      '2130706433',
      '0x7f.1',
      '0177.0.0.1',
      '127.1',
      '①②⑦.0.0.1',
      '[::ffff:7f00:1]',
      '%3127.0.0.1',
    ]) {
      expect(refusal(`http://${host}/`), host).toBe('blocked_address')
    }
  })
})

describe('checkTarget', () => {
  test.for([
    ['http://localhost/', 'blocked_address'],
    ['http://localhost./', 'blocked_address'],
    ['http://foo.LOCALHOST/', 'blocked_address'],
    ['http://printer.local/', 'blocked_address'],
    ['http://metadata/', 'blocked_address'],
    ['http://metadata.google.internal/', 'blocked_address'],
    ['http://ip6-localhost/', 'blocked_address'],
    ['http://127.0.0.1:22/', 'blocked_address'],
    ['http://example.com:22/', 'blocked_port'],
    ['http://example.com:0/', 'blocked_port'],
    ['http://nowhere.invalid/', 'dns'],
    ['http://a..b.example/', 'dns'],
    [`http://${'a'.repeat(64)}.example/`, 'dns'],
    ['http://xn--/', 'dns'],
    ['http://xn--photosuite-4r6e.example/', 'dns'],
    ['http://bücher.example/', undefined],
    ['http://i❤.ws/', undefined],
    ['http://notlocalhost/', undefined],
    ['http://mylocal.example/', undefined],
    ['http://example.com:8443/', undefined],
    ['https://example.com:5001/', undefined],
  ] as const)('%s: %s', ([url, code]) => expect(refusal(url)).toBe(code))
})

describe('the allow list', () => {
  test('an exact host, with a port or for all that are not bad', () => {
    expect(refusal('http://127.0.0.1:8080/', allowing('127.0.0.1:8080'))).toBe(undefined)
    expect(refusal('http://127.0.0.1:8081/', allowing('127.0.0.1:8080'))).toBe('blocked_address')
    expect(refusal('http://nas.local:5001/', allowing('NAS.local'))).toBe(undefined)
    expect(refusal('http://nas.local:22/', allowing('nas.local'))).toBe('blocked_port')
    expect(refusal('http://nas.local:6000/', allowing('nas.local:6000'))).toBe(undefined)
    expect(refusal('http://[::1]:3000/', allowing('[::1]:3000'))).toBe(undefined)
  })

  test('a network opens its addresses, mapped ones too, but never the metadata service', () => {
    const wide = allowing('0.0.0.0/0, ::/0')
    expect(refusal('http://192.168.1.20/', wide)).toBe(undefined)
    expect(refusal('http://[::ffff:10.0.0.1]/', wide)).toBe(undefined)
    expect(refusal('http://[fd12::5]/', wide)).toBe(undefined)
    for (const host of ['169.254.169.254', '[::ffff:169.254.169.254]', '[fd00:ec2::254]', '168.63.129.16']) {
      expect(refusal(`http://${host}/`, wide), host).toBe('blocked_address')
    }
    expect(refusal('http://169.254.169.254/', allowing('169.254.169.254'))).toBe(undefined)
  })

  test('a name on the list does not carry the metadata address along', async () => {
    const code = await connectCode('wiki.home.example', ['169.254.169.254'], allowing('wiki.home.example'))
    expect(code).toBe('blocked_address')
  })

  test.for([
    ['http://nas/', /network such as/],
    ['10.0.0.0/33', /network such as/],
    ['*.home.example', /wildcards/],
    ['nas:70000', /1\.\.65535/],
    ['nas:x', /expected host/],
    ['user@nas', /expected host/],
    ['a b', /expected host/],
  ] as const)('%s is reported', ([text, message]) => {
    const parsed = parseFetchAllow(`ok.example, ${text}`)
    expect(parsed).toMatchObject({ ok: false })
    if (!parsed.ok) {
      expect(parsed.message).toContain(text)
      expect(parsed.message).toMatch(message)
    }
  })

  test('empty entries are nothing', () => expect(parseFetchAllow(' , ')).toMatchObject({ ok: true }))
})

/** What the connector says of a name with these addresses; undefined when it would have connected. */
function connectCode(hostname: string, addresses: string[], allow = none): Promise<string | undefined> {
  return new Promise((resolve) => {
    const connect = guardedConnector({
      lookup: async () => addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      allow,
      dial: () => {
        resolve(undefined)
        return new Socket()
      },
      signal: new AbortController().signal,
      onSocket: () => {},
    })
    connect({ hostname, host: hostname, protocol: 'http:', port: '80' }, (...[error]) =>
      resolve((error as { code?: string } | null)?.code),
    )
  })
}

describe('the guard inside the connection', () => {
  test('checks every address of every family', async () => {
    expect(await connectCode('a.example', ['93.184.216.34', '2606:4700::1111'])).toBe(undefined)
    expect(await connectCode('a.example', ['93.184.216.34', 'fd12::5'])).toBe('blocked_address')
    expect(await connectCode('a.example', ['127.0.0.1'])).toBe('blocked_address')
    expect(await connectCode('a.example', ['what is this'])).toBe('blocked_address')
    expect(await connectCode('a.example', [])).toBe('dns')
  })

  test('checks literals itself, should a caller forget to', async () => {
    expect(await connectCode('127.0.0.1', [])).toBe('blocked_address')
    expect(await connectCode('[::1]', [])).toBe('blocked_address')
  })

  test('names that mean "here" are refused without asking a resolver', async () => {
    const asked: string[] = []
    const fetcher = createPageFetcher({
      ...{ clock: systemClock(), deadlineMs: 5_000 },
      lookup: async (hostname) => {
        asked.push(hostname)
        return []
      },
    })
    for (const name of ['localhost', 'a.localhost', 'printer.local', 'metadata.google.internal']) {
      const fetched = fetcher.fetchPage(`http://${name}/`, new AbortController().signal)
      await expect(fetched).rejects.toMatchObject({ code: 'blocked_address' })
    }
    expect(asked).toEqual([])
  })

  test('giving up ends a connection that is still being made', async () => {
    const clock = new ManualClock()
    const socket = new Socket()
    const dialled = Promise.withResolvers<void>()
    const fetcher = createPageFetcher({
      ...{ clock, deadlineMs: 20_000 },
      lookup: async () => [{ address: '93.184.216.34', family: 4 }],
      dial: () => {
        dialled.resolve()
        return socket
      },
    })
    const fetched = fetcher.fetchPage('http://swallows.example/', new AbortController().signal)
    const refused = expect(fetched).rejects.toMatchObject({ code: 'timeout' })
    socket.on('error', () => {})
    await dialled.promise
    clock.advance(20_000)
    await refused
    expect(socket.destroyed).toBe(true)
  })

  test('the real dialling connects to the checked address, and the host name stays in the request', async () => {
    const heard: (string | undefined)[] = []
    const server = createServer((request, response) => {
      heard.push(request.headers.host)
      response.setHeader('content-type', 'text/html').end('<title>By name</title>')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const clock = systemClock()
    try {
      const fetcher = createPageFetcher({
        ...{
          clock,
          deadlineMs: 5_000,
          allow: allowing(`wiki.example:${port}`),
          dial,
          gate: new HostGate(clock),
        },
        // The first address refuses the connection; only addresses from this answer may be tried.
        lookup: async () => [
          { address: '127.0.0.2', family: 4 },
          { address: '127.0.0.1', family: 4 },
        ],
      })
      const page = await fetcher.fetchPage(`http://wiki.example:${port}/`, new AbortController().signal)
      expect(page.title).toBe('By name')
      expect(heard).toEqual([`wiki.example:${port}`])
    } finally {
      server.close()
    }
  })
})
