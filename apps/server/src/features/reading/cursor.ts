/** A place in a list ordered by (saved_at_ms, id), as the opaque `after` of a page. */
export interface Cursor {
  savedAtMs: number
  id: string
}

export function encodeCursor({ savedAtMs, id }: Cursor): string {
  return Buffer.from(`${savedAtMs}.${id}`).toString('base64url')
}

/** Undefined for anything that `encodeCursor` did not make. */
export function decodeCursor(text: string): Cursor | undefined {
  const match = /^(\d{1,16})\.([\w-]{1,64})$/.exec(Buffer.from(text, 'base64url').toString())
  return match ? { savedAtMs: Number(match[1]), id: match[2]! } : undefined
}
