/**
 * How bodies become bytes for the shared cache, and how much of the memory's bound they take. Bodies are shared by all
 * readers and must not be changed by any.
 */
export interface Codec<Body> {
  encode(body: Body): Uint8Array
  /** Errors: whatever it throws; the copy then counts as absent and is removed. */
  decode(bytes: Uint8Array): Body
  /** Bytes that one body takes in memory; the default is the length of its encoding. */
  sizeOf?(body: Body): number
}

/**
 * Anything that survives JSON. Counted by its text: what JavaScript needs for the objects is some times more, so state
 * the memory's bound accordingly, or keep texts or bytes.
 */
export function jsonCodec<Body>(): Codec<Body> {
  return {
    encode: (body) => Buffer.from(JSON.stringify(body)),
    decode: (bytes) => JSON.parse(asBuffer(bytes).toString()),
  }
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** Bodies that are bytes already, such as an answer serialised once for all its readers. */
export const bytesCodec: Codec<Uint8Array> = {
  encode: (body) => body,
  // A copy: what arrives is a piece of the connection's block, and would keep all of it in memory, uncounted.
  decode: (bytes) => new Uint8Array(bytes),
  sizeOf: (body) => body.byteLength,
}
