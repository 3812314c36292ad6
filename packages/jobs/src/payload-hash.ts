import { hash } from 'node:crypto'
import type { Json } from './job.ts'

/** SHA-256 of the payload with its keys in order: the same content hashes the same however it was written. */
export function payloadHash(payload: Json): string {
  return hash('sha256', canonical(payload), 'base64url')
}

function canonical(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  const keys = Object.keys(value)
  if (keys.length > 1) keys.sort()
  const fields = keys.map((key) => `${JSON.stringify(key)}:${canonical(value[key]!)}`)
  return `{${fields.join(',')}}`
}
