import { expect, test } from 'vitest'
import { bytesCodec, jsonCodec } from './codec.ts'

test('JSON comes back as it was, also out of the middle of a larger buffer', () => {
  const codec = jsonCodec<{ title: string; n: number[] }>()
  const body = { title: 'Bücher – 書', n: [1, 2.5] }
  const bytes = codec.encode(body)
  const within = new Uint8Array(bytes.byteLength + 10)
  within.set(bytes, 5)
  expect(codec.decode(within.subarray(5, 5 + bytes.byteLength))).toEqual(body)
})

test('bytes are the same bytes, in memory of their own', () => {
  const bytes = Uint8Array.from([0, 255, 10])
  expect(bytesCodec.encode(bytes)).toBe(bytes)
  expect(bytesCodec.sizeOf!(bytes)).toBe(3)
  const block = new Uint8Array(65_536)
  block.set(bytes, 100)
  const decoded = bytesCodec.decode(block.subarray(100, 103))
  expect(decoded).toEqual(bytes)
  expect(decoded.buffer.byteLength).toBe(3)
})
