/**
 * Chance from a seed. Two forms, because a schedule is shrunk by taking things out of it:
 * `Rng` is a stream, for making a plan; what it gives depends on all that was drawn before. `chanceOf` belongs to a
 * name (`w1`, its 17th call, `latency`); taking one fault out leaves every other name's chance as it was.
 */
export class Rng {
  #state: number

  constructor(seed: number) {
    this.#state = mixed(seed >>> 0)
  }

  /** 0 up to, not including, 1. */
  next(): number {
    this.#state = (this.#state + 0x9e3779b9) >>> 0
    return mixed(this.#state) / 2 ** 32
  }

  /** A whole number from `least` to `most`, both included. */
  int(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1))
  }

  is(probability: number): boolean {
    return this.next() < probability
  }

  /** Errors: RangeError for an empty list. */
  pick<T>(from: readonly T[]): T {
    if (from.length === 0) throw new RangeError('Nothing to pick from.')
    return from[this.int(0, from.length - 1)]!
  }
}

/** 0 up to, not including, 1; always the same for a seed and a name. Pure. */
export function chanceOf(seed: number, ...name: (string | number)[]): number {
  let hash = mixed(seed >>> 0)
  for (const part of name) {
    const text = String(part)
    for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0
    hash = mixed(hash)
  }
  return hash / 2 ** 32
}

/** Source: the finaliser of MurmurHash3 (Appleby, public domain). */
function mixed(value: number): number {
  let hash = value
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
