import { type App, approved } from '../../../http.ts'
import { notFound } from '../../../problem.ts'
import { photoVersion } from '../photo-url.ts'
import type { BookDeps } from './book.ts'
import { findPhoto } from './queries.ts'

/**
 * `GET /api/photos/:meal`: the picture of one's own meal, or of one's own photo that waits under the same id. What
 * is under an id never changes, so a browser keeps it; only under the very credentials that it was fetched with.
 */
export function photoRoutes(app: App, { db, objects }: BookDeps): void {
  app.get<{ Params: { meal: string } }>('/api/photos/:meal', async (request, reply) => {
    const { userId } = approved(request)
    const blob = await findPhoto(db.read, { id: request.params.meal, userId })
    if (blob === undefined) throw notFound()
    const etag = `"${photoVersion(blob)}"`
    const cached = {
      etag,
      'cache-control': 'private, max-age=31536000, immutable',
      vary: 'cookie, authorization, x-demo-user',
    }
    if (request.headers['if-none-match'] === etag) return reply.code(304).headers(cached).send()
    const jpeg = await objects.get(blob)
    // Deleted between the two looks, or lost from the folder: there is nothing to show either way.
    if (jpeg === undefined) throw notFound()
    reply.headers({ ...cached, 'cross-origin-resource-policy': 'same-origin' })
    return reply.type('image/jpeg').send(Buffer.from(jpeg.buffer, jpeg.byteOffset, jpeg.byteLength))
  })
}
