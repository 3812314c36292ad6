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
  let lastMs = -1
  let time = ''
  let counter = 0
  // One call for 256 ids, written out once: asking the system for each costs more than the insert it is for.
  let pool = ''
  let used = 0
  return () => {
    let ms = Math.max(nowMs(), lastMs)
    counter = ms === lastMs ? counter + 1 : 0
    if (counter > 0xfff) {
      ms++
      counter = 0
    }
    if (ms !== lastMs) {
      lastMs = ms
      time = ms.toString(16).padStart(12, '0')
    }
    if (used === pool.length) {
      pool = Buffer.from(randomBytes(8 * 256)).toString('hex')
      used = 0
    }
    const random = pool.slice(used, used + 16)
    used += 16
    return `${time}7${counter.toString(16).padStart(3, '0')}${random}`
  }
}
