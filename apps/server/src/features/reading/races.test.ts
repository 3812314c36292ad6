import { beforeEach, describe, expect, test } from 'vitest'
import type { App } from '../../http.ts'
import { DIALECT } from '../../testing/database.ts'
import { type Answer, Harness } from '../../testing/harness.ts'
import { meetingAt } from '../../testing/meeting.ts'
import { totals } from '../../testing/totals.ts'

const A = 'https://example.com/a'
const BOB = { 'x-demo-user': 'bob' }
/** In SQLite there is no race: transactions run one after the other. */
const describeRaces = describe.skipIf(DIALECT !== 'postgres')

describeRaces('two servers at once', () => {
  const path = 'races'
  let garner: Harness
  let here: App
  let there: App
  beforeEach(async () => {
    garner = await Harness.open({ path })
    here = garner.app
    const other = await garner.process()
    there = (await other.garner.web()).app
    garner.site.rule = (url) => (url === A ? 'A title of the page' : 'Another')
    // The list is there, and can be held.
    await garner.save('https://example.com/first')
    await work()
  })

  const work = async () => (await garner.web.garner.worker.step()).done
  const ask = (app: App, method: 'POST' | 'PATCH' | 'DELETE', url: string, body?: object, headers = {}) =>
    app.inject({
      method,
      url,
      headers: { 'x-demo-user': 'alice', ...headers },
      ...(body && { payload: body }),
    })
  /** At the row of the list, which every change of its links writes to. */
  const meeting = <T>(...racers: (() => Promise<T>)[]) =>
    meetingAt<T>(
      { path, sql: 'SELECT 1 FROM lists WHERE group_id = ? FOR UPDATE', params: ['study'] },
      racers,
    )
  const codes = (answers: Answer[]) => answers.map((one) => one.statusCode)
  /** What the list says of its length, and what there is. */
  async function lengths() {
    const { read } = garner.web.db
    const said = await read.get<{ links: number }>("SELECT links FROM lists WHERE group_id = 'study'")
    const found = await read.get<{ n: number }>('SELECT count(*) AS n FROM bookmarks')
    return [said!.links, found!.n]
  }

  test('the same page saved on both is one link, and the second is told so', async () => {
    const save = (app: App) => ask(app, 'POST', '/api/bookmarks', { url: A })
    const answers = await meeting(
      () => save(here),
      () => save(there),
    )
    expect(codes(answers)).toEqual([201, 200])
    expect(answers[1]!.json().id).toBe(answers[0]!.json().id)
    expect(await lengths()).toEqual([2, 2])
  })

  test('one Idempotency-Key sent to both makes one link, and both give the first answer', async () => {
    const save = (app: App) =>
      ask(app, 'POST', '/api/bookmarks', { url: A, force: true }, { 'idempotency-key': 'one' })
    const answers = await meeting(
      () => save(here),
      () => save(there),
    )
    expect(codes(answers)).toEqual([201, 201])
    expect(answers[1]!.headers['idempotency-replayed']).toBe('true')
    expect(answers[1]!.body).toBe(answers[0]!.body)
    expect(await lengths()).toEqual([2, 2])
  })

  test('two edits of one version: the first is stored, the second is told and shown it', async () => {
    const { id } = await garner.save(A)
    const edit = (app: App, note: string) => ask(app, 'PATCH', `/api/bookmarks/${id}`, { version: 1, note })
    const answers = await meeting(
      () => edit(here, 'first'),
      () => edit(there, 'second'),
    )
    expect(codes(answers)).toEqual([200, 409])
    expect(answers[1]!.json().current).toMatchObject({ note: 'first', version: 2 })
    expect(await garner.link(id)).toMatchObject({ note: 'first', version: 2 })
  })

  test.each(['the title', 'the edit'])(
    'an edit and the title that arrives, %s first: both are there, and can be found',
    async (first) => {
      const { id } = await garner.save(A)
      const edit = () => ask(there, 'PATCH', `/api/bookmarks/${id}`, { version: 1, note: 'a note of mine' })
      // Told by the link, not by an answer.
      const title = () => work().then(() => undefined)
      await meeting<unknown>(...(first === 'the title' ? [title, edit] : [edit, title]))
      expect(await garner.link(id)).toMatchObject({ note: 'a note of mine', title: 'A title of the page' })
      for (const q of ['mine', 'title%20of']) expect((await garner.list(`?q=${q}`)).items).toHaveLength(1)
    },
  )

  test('two deletes of one link: the first is done, the second finds nothing, and it is counted once', async () => {
    const { id } = await garner.save(A)
    const answers = await meeting(
      () => ask(here, 'DELETE', `/api/bookmarks/${id}`),
      () => ask(there, 'DELETE', `/api/bookmarks/${id}`),
    )
    expect(codes(answers)).toEqual([204, 404])
    expect(await lengths()).toEqual([1, 1])
  })

  test.each(['the mark', 'the delete'])(
    'a mark and a delete of its link, %s first: neither fails, and the totals are right',
    async (first) => {
      const { id } = await garner.save(A)
      const mark = () =>
        there.inject({
          ...{ method: 'PATCH', url: `/api/bookmarks/${id}/read`, headers: BOB },
          payload: { is_read: true },
        })
      const remove = () => ask(here, 'DELETE', `/api/bookmarks/${id}`)
      const answers = await meeting(...(first === 'the mark' ? [mark, remove] : [remove, mark]))
      expect(codes(answers)).toEqual(first === 'the mark' ? [200, 204] : [204, 409])
      const { kept, counted } = await totals(garner.web.db.read)
      expect(kept).toEqual(counted)
    },
  )

  test('the same mark set on both is counted once', async () => {
    const { id } = await garner.save(A)
    const mark = (app: App) => ask(app, 'PATCH', `/api/bookmarks/${id}/read`, { is_read: true })
    const answers = await meeting(
      () => mark(here),
      () => mark(there),
    )
    expect(codes(answers)).toEqual([200, 200])
    const { kept, counted } = await totals(garner.web.db.read)
    expect(kept).toEqual(counted)
  })

  test('a new address and a delete behind it: no job of the link is left', async () => {
    const { id } = await garner.save(A)
    await work()
    const answers = await meeting(
      () => ask(there, 'PATCH', `/api/bookmarks/${id}`, { version: 1, url: `${A}2` }),
      () => ask(here, 'DELETE', `/api/bookmarks/${id}`),
    )
    expect(codes(answers)).toEqual([200, 204])
    const jobs = await garner.web.db.read.all('SELECT 1 FROM jobs WHERE subject = ?', `bookmark:${id}`)
    expect(jobs).toEqual([])
    expect(await lengths()).toEqual([1, 1])
  })

  test('a save by somebody whose account ends at that moment is counted with it', async () => {
    await ask(here, 'POST', '/api/bookmarks', { url: 'https://example.com/bob' }, BOB)
    const [saved, ended] = await meeting(
      () => ask(there, 'POST', '/api/bookmarks', { url: A }, BOB),
      () => ask(here, 'DELETE', '/api/me', { confirm: 'delete' }, BOB),
    )
    expect(ended!.statusCode).toBe(204)
    expect([201, 409]).toContain(saved!.statusCode)
    expect(await garner.web.db.read.all("SELECT 1 FROM bookmarks WHERE owner_id = 'bob'")).toEqual([])
    expect(await lengths()).toEqual([1, 1])
  })
})
