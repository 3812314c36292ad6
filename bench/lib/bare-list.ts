import { readFileSync } from 'node:fs'
import Fastify from 'fastify'

/** The route that a cached list is measured against: it sends the bytes of a file from memory, to anyone. */
const bytes = readFileSync(process.argv[2] ?? '')
const app = Fastify()
app.get('/api/bookmarks', async (_request, reply) =>
  reply.type('application/json; charset=utf-8').send(bytes),
)
await app.listen({ port: 0, host: '127.0.0.1' })
const address = app.server.address()
console.log(`listening on ${typeof address === 'object' ? address?.port : ''}`)
