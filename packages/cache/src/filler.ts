import type { Clock } from '@garner/db'
import type { AgeClock } from './age-clock.ts'
import type { OriginBudget } from './budget.ts'
import type { Codec } from './codec.ts'
import type { Reads } from './counters.ts'
import { type Entry, refreshBackoffMs, replaces, spreadFreshMs, standing } from './entry.ts'
import { VersionBehind } from './errors.ts'
import type { Fill, Fills } from './fill.ts'
import type { Load, Loader } from './load.ts'
import type { MemoryTier } from './memory-tier.ts'
import type { SharedTier } from './shared-tier.ts'
import type { Look } from './store.ts'

export interface FillerOptions<Body> {
  age: AgeClock
  clock: Clock
  random: () => number
  incarnation: string
  codec: Codec<Body>
  memory: MemoryTier<Body>
  shared: SharedTier | null
  budget: OriginBudget
  loader: Loader
  fills: Fills<Body>
  reads: Reads
  freshMs: number
  maxAgeMs: number
  spread: number
  waitMs: number
  loadMs: number
  floorMs: number
}

/** What a look into the shared cache came to: all is there; this instance fills, under a token; there is none. */
type Looked = { kind: 'filled' } | { kind: 'mine'; token: string } | { kind: 'absent' }

/**
 * Carries out fills: the shared cache, then the budget, then the origin, then both tiers. Nothing in here rejects; what
 * goes wrong reaches the fill's readers.
 */
export class Filler<Body> {
  readonly #options: FillerOptions<Body>
  #tokens = 0

  constructor(options: FillerOptions<Body>) {
    this.#options = options
  }

  start(fill: Fill<Body>, load: Load<Body>): void {
    this.#options.fills.start(fill)
    void this.#run(fill, load)
  }

  async #run(fill: Fill<Body>, load: Load<Body>): Promise<void> {
    const { fills, shared } = this.#options
    let token: string | null = null
    try {
      const looked = shared ? await this.#look(fill, shared) : { kind: 'absent' as const }
      if (looked.kind === 'filled') return
      if (looked.kind === 'mine') token = looked.token
      await fills.turn(fill)
      if (await this.#isAdmitted(fill)) token = await this.#load(fill, load, token)
    } catch (error) {
      this.#putOff(fill)
      fill.fail(error)
    } finally {
      fills.end(fill)
      if (token !== null) await shared?.release(fill.address, token)
    }
  }

  /** Looks until the shared cache has what is needed, or lets this instance fill, or nobody waits any more. */
  async #look(fill: Fill<Body>, shared: SharedTier): Promise<Looked> {
    const { freshMs, spread, random, loadMs, waitMs, floorMs, incarnation } = this.#options
    const token = `${incarnation}:${this.#tokens++}`
    for (;;) {
      const { minVersion, address, forgotten, heard } = fill
      fill.floor = Math.max(fill.floor, this.#options.memory.get(address)?.floor ?? 0)
      const fresh = spreadFreshMs({ freshMs, spread, random: random() })
      const askedMs = this.#options.age.nowMs()
      const look = await shared.look(address, {
        ...{ minVersion, floor: fill.floor, freshMs: fresh, token },
        // As long as a place in the budget and the load may take: a shorter lease would let a second one in.
        leaseMs: waitMs + loadMs,
      })
      if (!look) return { kind: 'absent' }
      if (fill.forgotten !== forgotten) continue
      if (!this.#take(fill, look, { askedMs, freshMs: fresh })) {
        await shared.invalidate(address, { isForgotten: true, version: 0, keepMs: floorMs })
        continue
      }
      if (look.fill === 'yours') return { kind: 'mine', token }
      if (fill.endIfUnneeded()) return { kind: 'filled' }
      // Someone may have joined who needs more than was asked for; then it is asked for at once.
      if (look.fill === 'unneeded') continue
      // News and answers come on two connections. What this one would wait for may have overtaken its answer.
      if (fill.heard !== heard) continue
      await shared.news(address, Math.min(look.leaseMs, waitMs))
      if (fill.endIfUnneeded()) return { kind: 'filled' }
    }
  }

  /** Takes over what a look has found. Answers false when it could not be read: to be removed, and looked again. */
  #take(fill: Fill<Body>, look: Look, { askedMs, freshMs }: { askedMs: number; freshMs: number }): boolean {
    const { memory, codec, maxAgeMs, age } = this.#options
    if (look.floor > 0) memory.put(fill.address, { floor: look.floor })
    if (!look.copy) return true
    const { version, ageMs, bytes } = look.copy
    let body: Body
    try {
      body = codec.decode(bytes)
    } catch {
      return false
    }
    // Its age was right at some moment after the question was sent: it is no older than this.
    const entry: Entry<Body> = { body, version, readAtMs: askedMs - ageMs, freshMs }
    const floor = Math.max(look.floor, memory.get(fill.address)?.floor ?? 0)
    const is = standing(entry, { nowMs: age.nowMs(), maxAgeMs, floor })
    if (is === 'expired') return true
    this.#keep(fill.address, entry, bytes.byteLength)
    fill.offer(entry, version < floor ? 'outdated' : is)
    return true
  }

  /** Waits for a place in the budget. Answers false when it is not needed any more. Errors: BudgetSpent. */
  async #isAdmitted(fill: Fill<Body>): Promise<boolean> {
    const { budget, memory, age, maxAgeMs } = this.#options
    await fill.admittedBy(budget.enter(fill.need()))
    const { entry, floor = 0 } = memory.get(fill.address) ?? {}
    const rules = { nowMs: age.nowMs(), maxAgeMs, floor: Math.max(floor, fill.floor) }
    const isThere = entry !== undefined && standing(entry, rules) === 'fresh'
    if (isThere) fill.offer(entry, 'fresh')
    else if (fill.isRefresh) return true
    if (!fill.endIfUnneeded()) return true
    budget.giveBack()
    return false
  }

  /** Asks the origin. Answers the token that is still to be released, if any. */
  async #load(fill: Fill<Body>, load: Load<Body>, token: string | null): Promise<string | null> {
    const { loader, reads, age, spread, random, shared, codec, maxAgeMs } = this.#options
    const readAtMs = age.nowMs()
    fill.hasBegun = true
    reads.loads++
    const loaded = await loader.run(load, fill.floor).catch((error) => {
      reads.loadsFailed++
      throw error
    })
    const { body, version = 0 } = loaded
    const freshMs = spreadFreshMs({ freshMs: this.#options.freshMs, spread, random: random() })
    const entry: Entry<Body> = { body, version, readAtMs, freshMs }
    const bytes = shared && token !== null ? codec.encode(body) : null
    const isKept =
      !fill.isOvertaken && version >= fill.floor && this.#keep(fill.address, entry, bytes?.byteLength)
    fill.loaded(
      entry,
      (reader) =>
        new VersionBehind({ wanted: reader.minVersion, found: version, retryAfterMs: RETRY_BEHIND_MS }),
    )
    // A replica that lags is not asked once per read for what it does not have yet.
    if (!isKept) this.#putOff(fill)
    if (!isKept || !bytes || token === null) return token
    const ageMs = age.nowMs() - readAtMs
    const stored = await shared!.store(fill.address, {
      ...{ token, version, ageMs, bytes },
      keepMs: maxAgeMs - ageMs,
    })
    // Something newer is known elsewhere: what was just kept here is to be looked at again at once.
    if (stored === 'overtaken') entry.freshMs = 0
    return stored === null ? token : null
  }

  /** Keeps it in this process, unless something newer is known. Answers whether it may be kept. */
  #keep(address: string, entry: Entry<Body>, encodedBytes?: number): boolean {
    const { memory, codec } = this.#options
    const slot = memory.get(address)
    if (entry.version < (slot?.floor ?? 0) || !replaces(entry, slot?.entry)) return false
    if (!memory.isOff) {
      const bytes = codec.sizeOf?.(entry.body) ?? encodedBytes ?? codec.encode(entry.body).byteLength
      memory.put(address, { entry, bytes })
    }
    return true
  }

  /** A refresh that failed is not tried again by the next reader, but after a while. */
  #putOff(fill: Fill<Body>): void {
    const { memory, age, random, reads } = this.#options
    if (fill.isRefresh) reads.refreshesShed++
    const slot = memory.get(fill.address)
    if (!slot?.entry) return
    slot.failures++
    slot.refreshAtMs = age.nowMs() + refreshBackoffMs(slot.failures, random())
  }
}

/** A replica is usually this close behind. */
const RETRY_BEHIND_MS = 500
