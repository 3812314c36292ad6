import { connect } from 'node:net'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Answer, call, save } from './api.ts'
import { type GarnerProcess, startGarner } from './garner.ts'
import { census, rows } from './rows.ts'

/** One server for all: whatever is sent must leave it as it was for the next. */
let demo: GarnerProcess
let bobs: string
beforeAll(async () => {
  demo = await startGarner({ args: ['serve', '--demo'], lifetime: 'file' })
  bobs = (await save(demo, { url: 'https://bob.example/' }, { user: 'bob' })).id
})

/** What every refusal is: a problem that says what is wrong, and nothing left behind. */
function expectProblem(answer: Answer, status: number) {
  expect([answer.status, answer.text]).toEqual([status, expect.anything()])
  expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/)
  expect(answer.body).toMatchObject({ status, type: expect.any(String), title: expect.any(String) })
  expect(answer.body.detail.length).toBeGreaterThan(10)
}

async function expectRefused(ask: () => Promise<Answer>, status: number): Promise<Answer> {
  const before = census(demo.dataDir)
  const answer = await ask()
  expectProblem(answer, status)
  expect(census(demo.dataDir)).toEqual(before)
  return answer
}

describe('a save that is refused leaves nothing behind', () => {
  const post = (body: unknown, headers: Record<string, string> = {}) =>
    call(`${demo.url}/api/bookmarks`, { body, headers: { 'idempotency-key': 'never-kept', ...headers } })
  const ok = { url: 'https://a.example/', group: 'study' }
  const json = (text: string) => text

  test.each([
    ['malformed JSON', '{"url":', 400],
    ['an empty body', '', 400],
    ['null', 'null', 400],
    ['an array', '[]', 400],
    ['a string', '"https://a.example/"', 400],
    ['8,000 nested arrays', json(`${'['.repeat(8000)}${']'.repeat(8000)}`), 400],
    ['no url', { group: 'study' }, 400],
    ['a number for a url', { ...ok, url: 5 }, 400],
    ['null for a url', { ...ok, url: null }, 400],
    ['an array for a url', { ...ok, url: ['https://a.example/'] }, 400],
    ['a text for a boolean', { ...ok, force: 'true' }, 400],
    ['a number for a note', { ...ok, note: 1 }, 400],
    ['a note of 2,001 characters', { ...ok, note: 'n'.repeat(2001) }, 400],
    ['an unknown field', { ...ok, colour: 'red' }, 400],
    ['a forged owner', { ...ok, owner: 'bob' }, 400],
    ['a forged owner, as an object', { ...ok, owner: { id: 'bob' } }, 400],
    ['a forged owner_id', { ...ok, owner_id: 'bob' }, 400],
    ['a forged title and status', { ...ok, title: 'Mine', title_status: 'ready' }, 400],
    ['a forged id', { ...ok, id: 'chosen' }, 400],
    ['__proto__', json('{"url":"https://a.example/","__proto__":{"isAdmin":true}}'), 400],
    ['constructor.prototype', json('{"url":"https://a.example/","constructor":{"prototype":{"x":1}}}'), 400],
    ['a title_mode that is none', { ...ok, title_mode: 'hang' }, 400],
    ['a group that one is not in', { ...ok, group: 'nobodys' }, 403],
    ['a group with half a character', { ...ok, group: '\ud800' }, 403],
    ['a group with a nul byte', { ...ok, group: 'study\0' }, 403],
    ['16 KiB and more', { ...ok, note: 'n'.repeat(17_000) }, 413],
    ['a megabyte', { ...ok, note: 'n'.repeat(1_000_000) }, 413],
  ])('%s', async (_name, body, status) => {
    await expectRefused(() => post(body), status)
  })

  test.each([
    '',
    ' ',
    'example.com',
    'javascript:alert(1)',
    'ftp://example.com/a',
    'file:///etc/passwd',
    'http://',
    'http:///path',
    'https://user:secret@example.com/',
    'http://exa mple.com/',
    'http://[::1/',
    'http://1.2.3.4.5/',
    'http://example.com:99999/',
    'http://example.com/a\nb',
    'http://example.com/\0',
    'http://example.com/\ud800',
    `http://example.com/${'a'.repeat(2048)}`,
  ])('the address %j', async (url) => {
    const answer = await expectRefused(() => post({ ...ok, url }), 400)
    expect(answer.body.errors[0].path).toBe('url')
  })

  test.each([
    ['a form', 'application/x-www-form-urlencoded', 415],
    ['plain text', 'text/plain', 415],
    ['XML', 'application/xml', 415],
    ['a content type that is none', ';;;', 415],
  ])('%s', async (_name, type, status) => {
    await expectRefused(() => post(JSON.stringify(ok), { 'content-type': type }), status)
  })

  test('a compressed body', async () => {
    await expectRefused(() => post(JSON.stringify(ok), { 'content-encoding': 'gzip' }), 415)
  })

  test.each([
    ['with a space', 'a b'],
    ['empty', ''],
    ['of 256 characters', 'k'.repeat(256)],
  ])('an Idempotency-Key %s', async (_name, key) => {
    await expectRefused(() => post(ok, { 'idempotency-key': key }), 400)
  })

  test('bytes that are no UTF-8', async () => {
    const body = Buffer.concat([
      Buffer.from('{"url":"https://a.example/'),
      Buffer.from([0xe9]),
      Buffer.from('"}'),
    ])
    const head = `POST /api/bookmarks HTTP/1.1\r\nHost: localhost\r\nX-Demo-User: alice\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n`
    await expectRefused(() => raw(demo, Buffer.concat([Buffer.from(head), body])), 400)
  })

  test('a person that nobody is, or none, or two at once', async () => {
    for (const user of ['mallory', '__proto__', 'ALICE', '']) {
      await expectRefused(() => call(`${demo.url}/api/bookmarks`, { user, body: ok }), 401)
    }
    await expectRefused(() => call(`${demo.url}/api/bookmarks`, { user: null, body: ok }), 401)
    const two =
      'GET /api/me HTTP/1.1\r\nHost: localhost\r\nX-Demo-User: alice\r\nX-Demo-User: bob\r\nConnection: close\r\n\r\n'
    await expectRefused(() => raw(demo, two), 401)
  })

  test('someone who is in no group', async () => {
    await expectRefused(
      () => call(`${demo.url}/api/bookmarks`, { user: 'carol', body: { url: ok.url } }),
      403,
    )
    await expectRefused(() => call(`${demo.url}/api/bookmarks`, { user: 'carol', body: ok }), 403)
  })
})

test('odd characters in a note are cleaned, not a failure: nul bytes, half characters', async () => {
  const saved = await save(demo, {
    url: 'https://odd.example/',
    note: 'a\0b\ud800c',
    page_title: 'x\0\udfffy',
  })
  const { body } = await call(`${demo.url}/api/bookmarks/${saved.id}`)
  expect(body.note).toBe((saved as unknown as { note: string }).note)
  expect(body.note).not.toContain('\0')
  expect(body.note.isWellFormed()).toBe(true)
  expect(body.title).toBe(saved.title)
})

describe('somebody else’s things', () => {
  const at = (path: string, options: Parameters<typeof call>[1] = {}) =>
    expectRefused.bind(null, () => call(`${demo.url}/api/bookmarks/${path}`, options))

  test('a member may see another’s link, and change nothing of it', async () => {
    const edit = { version: 1, note: 'mine now' }
    await at(bobs, { method: 'PATCH', body: edit })(403)
    await at(bobs, { method: 'DELETE' })(403)
    const [row] = rows(demo.dataDir, 'SELECT note, version FROM bookmarks WHERE id = ?', bobs)
    expect(row).toEqual({ note: '', version: 1 })
  })

  test('to one who is no member it is as if it were not there, in every way of asking', async () => {
    for (const id of [bobs, 'no-such-link', '__proto__', '%00', '..%2f..', 'a'.repeat(5000)]) {
      const texts: string[] = []
      const ways = [
        { method: 'GET' },
        { method: 'PATCH', body: { version: 1, note: 'x' } },
        { method: 'DELETE' },
      ]
      for (const way of ways) texts.push((await at(id, { user: 'carol', ...way })(404)).text)
      texts.push(
        (await at(`${id}/read`, { user: 'carol', method: 'PATCH', body: { is_read: true } })(404)).text,
      )
      texts.push((await at(`${id}/refresh`, { user: 'carol', method: 'POST' })(404)).text)
      expect(new Set(texts).size).toBe(1)
    }
  })

  test('the operator’s pages are not for members, and the operator sees no links', async () => {
    for (const path of ['/api/admin/users', '/api/admin/jobs']) {
      await expectRefused(() => call(`${demo.url}${path}`), 403)
      await expectRefused(() => call(`${demo.url}${path}`, { user: null }), 401)
    }
    await expectRefused(() => call(`${demo.url}/api/admin/users/bob/reject`, { method: 'POST' }), 403)
    await expectRefused(() => call(`${demo.url}/api/bookmarks?group=study`, { user: 'admin' }), 403)
    await at(bobs, { user: 'admin' })(404)
  })
})

describe('an edit or a list that makes no sense', () => {
  test.each([
    ['no version', { note: 'x' }, 400],
    ['half a version', { version: 1.5, note: 'x' }, 400],
    ['a version as text', { version: '1', note: 'x' }, 400],
    ['version 0', { version: 0, note: 'x' }, 400],
    ['an old version', { version: 7, note: 'x' }, 409],
    ['a new owner', { version: 1, owner: 'alice' }, 400],
    ['a bad address', { version: 1, url: 'javascript:alert(1)' }, 400],
  ])('%s', async (_name, body, status) => {
    const ask = () => call(`${demo.url}/api/bookmarks/${bobs}`, { user: 'bob', method: 'PATCH', body })
    await expectRefused(ask, status)
  })

  test.each([
    'limit=0',
    'limit=201',
    'limit=abc',
    'limit=1&limit=2',
    'after=zzz',
    'sort=title',
    'unread=maybe',
    'colour=red',
    `q=${'q'.repeat(201)}`,
  ])('?%s', async (query) => {
    await expectRefused(() => call(`${demo.url}/api/bookmarks?group=study&${query}`), 400)
  })

  test('a search for wildcards and broken escapes finds what has them, which is nothing', async () => {
    for (const q of ['%25', '_', '%5C', '%zz%ff', "'; DROP TABLE bookmarks; --"]) {
      const answer = await call(`${demo.url}/api/bookmarks?group=study&q=${q}`)
      expect([answer.status, answer.body.items]).toEqual([200, []])
    }
  })
})

describe('what is hardly HTTP', () => {
  const head = 'Host: localhost\r\nX-Demo-User: alice\r\nConnection: close\r\n'
  test.each([
    ['noise', 'blah blah\r\n\r\n', 400],
    ['a method that nobody knows', `BREW /api/bookmarks HTTP/1.1\r\n${head}\r\n`, 400],
    ['HTTP/2 from someone who was not asked to', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
    [
      'two lengths',
      `POST /api/bookmarks HTTP/1.1\r\n${head}Content-Length: 4\r\nContent-Length: 5\r\n\r\n{}{}`,
      400,
    ],
    [
      'a length and chunks (smuggling)',
      `POST /api/bookmarks HTTP/1.1\r\n${head}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      400,
    ],
    ['a broken percent sign', `GET /api/bookmarks/%zz HTTP/1.1\r\n${head}\r\n`, 400],
    ['50,000 characters of path', `GET /${'a'.repeat(50_000)} HTTP/1.1\r\n${head}\r\n`, 431],
    ['50,000 characters of header', `GET / HTTP/1.1\r\n${head}X-A: ${'a'.repeat(50_000)}\r\n\r\n`, 431],
    ['a way out of the folder', `GET /assets/..%2f..%2f..%2fpackage.json HTTP/1.1\r\n${head}\r\n`, 404],
    ['PUT', `PUT /api/bookmarks HTTP/1.1\r\n${head}Content-Length: 0\r\n\r\n`, 404],
    ['TRACE', `TRACE /api/bookmarks HTTP/1.1\r\n${head}\r\n`, 404],
    ['a page of the API that is not there', `GET /api/nothing HTTP/1.1\r\n${head}\r\n`, 404],
  ])('%s gets a clear answer', async (_name, text, status) => {
    await expectRefused(() => raw(demo, text), status)
  })

  test('a client that goes away in the middle of its body leaves nothing', async () => {
    const before = census(demo.dataDir)
    await new Promise<void>((resolve) => {
      const socket = connect(Number(new URL(demo.url).port), '127.0.0.1', () => {
        socket.write(
          `POST /api/bookmarks HTTP/1.1\r\n${head}Content-Type: application/json\r\nContent-Length: 500\r\n\r\n{"url":`,
        )
        socket.end(() => socket.destroy())
      })
      socket.on('close', () => resolve())
    })
    expect((await call(`${demo.url}/healthz`)).status).toBe(200)
    expect(census(demo.dataDir)).toEqual(before)
  })
})

test('after all that it still runs, and none of it was a fault of the server', async () => {
  expect((await call(`${demo.url}/readyz`, { user: null })).body).toEqual({ status: 'ready' })
  const { text } = await call(`${demo.url}/metrics`, { user: null })
  expect(text).not.toMatch(/^garner_http_request_duration_seconds_count\{.*status="500".*\}/m)
  expect(demo.log).not.toContain('"level":60')
})

/** Bytes as they are, over a socket; the answer when the other side closes. */
async function raw(server: { url: string }, bytes: string | Uint8Array): Promise<Answer> {
  const text = await new Promise<string>((resolve, reject) => {
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1', () => socket.write(bytes))
    let all = ''
    socket.setEncoding('utf8').on('data', (part: string) => {
      all += part
    })
    socket.setTimeout(20_000, () => socket.destroy(new Error(`no end after: ${all}`)))
    socket.on('close', () => resolve(all))
    socket.on('error', (error) => (all === '' ? reject(error) : resolve(all)))
  })
  const [head = '', ...rest] = text.split('\r\n\r\n')
  const [first = '', ...lines] = head.split('\r\n')
  const headers = new Headers(
    lines.map((line): [string, string] => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon), line.slice(colon + 1).trim()]
    }),
  )
  const body = rest.join('\r\n\r\n')
  return {
    status: Number(first.split(' ')[1]),
    headers,
    text: body,
    body: body === '' ? null : JSON.parse(body),
  }
}
