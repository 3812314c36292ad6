import { pipeline, Readable, type Transform } from 'node:stream'
import zlib from 'node:zlib'

/**
 * Undoes Content-Encoding as a stream, so that a bomb is only ever as large as what was read of it.
 * A stream that stops in the middle gives what had arrived (finishFlush): the title is usually in there.
 * Errors: zlib's own, `Z_DATA_ERROR` and the like.
 */
const CHUNK = 64 * 1024
/** More layers than two have no honest use. */
const LAYERS_MAX = 2

export async function* decoded(body: AsyncIterable<Buffer>, contentEncoding: string): AsyncIterable<Buffer> {
  const layers = contentEncoding
    .toLowerCase()
    .split(',')
    .map((one) => one.trim())
  let bytes = body
  for (const layer of layers.reverse().slice(0, LAYERS_MAX)) bytes = undo(layer, bytes)
  yield* bytes
}

async function* undo(layer: string, coded: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  const { start, rest } = await peek(coded)
  const transform = start.length === 0 ? undefined : transformFor(layer, start)
  if (!transform) {
    yield* rest
    return
  }
  // Its own `for await` throws the same error again; without a callback pipeline would make it uncaught.
  pipeline(Readable.from(rest, { objectMode: false, highWaterMark: CHUNK }), transform, () => {})
  yield* transform as AsyncIterable<Buffer>
}

/** Undefined means: as it is. Servers write charsets and fancies into this header, and compress what is not. */
function transformFor(layer: string, start: Buffer): Transform | undefined {
  const first = start[0]!
  const second = start[1] ?? 0
  switch (layer) {
    case 'gzip':
    case 'x-gzip':
      if (!(first === 0x1f && second === 0x8b) && looksLikeMarkup(start)) return undefined
      return zlib.createGunzip({ chunkSize: CHUNK, finishFlush: zlib.constants.Z_SYNC_FLUSH })
    case 'deflate': {
      const options = { chunkSize: CHUNK, finishFlush: zlib.constants.Z_SYNC_FLUSH }
      // RFC 9110 means the zlib wrapper; old servers send the bare stream. The wrapper's first two bytes tell.
      const isWrapped = (first & 0x0f) === 8 && ((first << 8) | second) % 31 === 0
      return isWrapped ? zlib.createInflate(options) : zlib.createInflateRaw(options)
    }
    case 'br':
      return zlib.createBrotliDecompress({
        chunkSize: CHUNK,
        finishFlush: zlib.constants.BROTLI_OPERATION_FLUSH,
      })
    case 'zstd':
      return zlib.createZstdDecompress({ chunkSize: CHUNK, finishFlush: zlib.constants.ZSTD_e_flush })
    default:
      return undefined
  }
}

function looksLikeMarkup(start: Buffer): boolean {
  return /^(\ufeff|\u00ef\u00bb\u00bf)?\s*</.test(start.toString('latin1'))
}

/** The first bytes (two at least, unless the body is shorter) and the whole again. */
async function peek(body: AsyncIterable<Buffer>): Promise<{ start: Buffer; rest: AsyncIterable<Buffer> }> {
  const iterator = body[Symbol.asyncIterator]()
  let start: Buffer = Buffer.alloc(0)
  let isOver = false
  while (start.length < 2 && !isOver) {
    const { value, done } = await iterator.next()
    if (done) isOver = true
    else start = start.length === 0 ? value : Buffer.concat([start, value])
  }
  const rest = async function* () {
    try {
      if (start.length > 0) yield start
      for (;;) {
        if (isOver) return
        const { value, done } = await iterator.next()
        if (done) return
        yield value
      }
    } finally {
      await iterator.return?.()
    }
  }
  return { start, rest: rest() }
}
