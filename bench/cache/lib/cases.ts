import { listOf, type Peer } from './peer.ts'

/** Calls per second of one peer, in a process of its own. */
export interface CacheCase {
  about: string
  tier: 'memory' | 'shared'
  keys: number
  inFlight: number
  /** Which key comes next. */
  draw: (keys: string[]) => () => string
}

const inTurn = (keys: string[]) => {
  let next = 0
  return () => {
    next = (next + 1) % keys.length
    return keys[next]!
  }
}

export const CASES: Record<string, CacheCase> = {
  hot: {
    about: 'hits in this process, one key, one call after another',
    ...{ tier: 'memory', keys: 1, inFlight: 1, draw: inTurn },
  },
  zipf: {
    about: 'hits in this process over 10,000 keys, as popular as their place says (Zipf, 0.99)',
    ...{ tier: 'memory', keys: 10_000, inFlight: 1, draw: zipf },
  },
  shared: {
    about:
      'hits in the shared cache over 1,000 keys of about 1 KB, 50 calls in flight, nothing kept in this process',
    ...{ tier: 'shared', keys: 1_000, inFlight: 50, draw: inTurn },
  },
}

/** Every body is looked at, and no call may have asked the origin. Errors: when one did. */
export async function measure(
  peer: Peer,
  { tier, keys: count, inFlight, draw }: CacheCase,
  { url, ms, warmMs }: { url: string; ms: number; warmMs: number },
): Promise<number> {
  let loads = 0
  const cache = await peer.open({
    ...{ tier, url },
    async load(key) {
      loads++
      return listOf(key)
    },
  })
  const keys = Array.from({ length: count }, (_, n) => `list:${n}`)
  for (const key of keys) await cache.get(key)
  const next = draw(keys)
  const round = async () => {
    let left = ROUND
    await Promise.all(
      Array.from({ length: inFlight }, async () => {
        while (left-- > 0) if ((await cache.get(next())).v !== 1) throw new Error('not the list')
      }),
    )
  }
  for (const endMs = performance.now() + warmMs; performance.now() < endMs; ) await round()
  const before = loads
  const fromMs = performance.now()
  let rounds = 0
  for (; performance.now() - fromMs < ms; rounds++) await round()
  const seconds = (performance.now() - fromMs) / 1_000
  await cache.close()
  if (loads !== before) throw new Error(`${loads - before} of the calls asked the origin`)
  return (rounds * ROUND) / seconds
}

const ROUND = 2_000

/** The same draws for everybody. */
function zipf(keys: string[]): () => string {
  const upTo: number[] = []
  let sum = 0
  for (let n = 0; n < keys.length; n++) {
    sum += 1 / (n + 1) ** 0.99
    upTo.push(sum)
  }
  let seed = 42
  const draws = Array.from({ length: 1 << 17 }, () => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
    const place = (seed / 2 ** 32) * sum
    let [low, high] = [0, keys.length - 1]
    while (low < high) {
      const middle = (low + high) >> 1
      if (upTo[middle]! < place) low = middle + 1
      else high = middle
    }
    return keys[low]!
  })
  return inTurn(draws)
}
