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

test('bytes stay the bytes they are', () => {
  const bytes = Uint8Array.from([0, 255, 10])
  expect(bytesCodec.decode(bytesCodec.encode(bytes))).toBe(bytes)
  expect(bytesCodec.sizeOf!(bytes)).toBe(3)
})
