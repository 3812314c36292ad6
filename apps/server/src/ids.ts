/**
 * Ids that sort by the time they were made (the layout of RFC 9562 UUID version 7, as 32 hex digits): new rows go
 * to the end of their index. The 80 random bits keep them unguessable and unique across processes.
 */
export function createIds({
  nowMs,
  randomBytes,
}: {
  nowMs: () => number
  randomBytes: (n: number) => Uint8Array
}): () => string {
  let lastMs = 0
  let counter = 0
  // One call for 256 ids: asking the system for each costs more than the insert it is for.
  let pool: Uint8Array = new Uint8Array(0)
  let used = 0
  return () => {
    const ms = Math.max(nowMs(), lastMs)
    counter = ms === lastMs ? counter + 1 : 0
    if (counter > 0xfff) {
      lastMs = ms + 1
      counter = 0
    } else lastMs = ms
    if (used + 8 > pool.length) {
      pool = randomBytes(8 * 256)
      used = 0
    }
    const random = Buffer.from(pool.buffer, pool.byteOffset + used, 8).toString('hex')
    used += 8
    const time = lastMs.toString(16).padStart(12, '0')
    return `${time}7${counter.toString(16).padStart(3, '0')}${random}`
  }
}
