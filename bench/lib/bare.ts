import Fastify from 'fastify'

/**
 * The route that a durable save is measured against: it parses the same body and answers JSON of the same size,
 * and touches no database. Registered as plainly as Fastify allows.
 */
const app = Fastify()
const id = '01a228754a33700023a9eb50dd0f9fda'
app.post<{ Body: { url: string; note?: string } }>('/api/bookmarks', async (request, reply) => {
  reply.code(201)
  return {
    ...{
      id,
      url: request.body.url,
      title: null,
      title_status: 'pending',
      title_source: null,
      title_by: null,
    },
    ...{ title_error: null, title_checked_at: null, title_tries: 0, title_next_try_at: null, shown: null },
    ...{
      also_saved_as: null,
      note: request.body.note ?? '',
      group: 'study',
      owner: { id: 'alice', name: 'Alice' },
    },
    ...{
      saved_at: '2026-11-29T17:58:25.075Z',
      edited_at: null,
      edited_by: null,
      version: 1,
      source_version: 1,
    },
    ...{ is_read: false, read_by: [], job: { id, state: 'ready' } },
  }
})
await app.listen({ port: 0, host: '127.0.0.1' })
const address = app.server.address()
console.log(`listening on ${typeof address === 'object' ? address?.port : ''}`)
