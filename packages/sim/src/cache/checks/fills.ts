import type { CacheCounters } from '@garner/cache'
import type { Life } from '../../world/machine.ts'
import type { NamedChecker } from './checker.ts'
import type { OriginRead } from './happening.ts'

/** The second is for those whose saves the first cannot have seen. */
const LOADS_PER_KEY = 2
/** News of what was forgotten arrive within this: their receiver may be stopped meanwhile. */
const NEWS_MAX_MS = 10_000

/** C2, in a process: at most one load of a key that could serve the same readers, and two at all. */
export const oneLoad: NamedChecker = {
  name: 'C2 one load per process',
  make({ nowMs, broken }) {
    const under = new Map<Life, Set<OriginRead>>()
    const forgottenAtMs = new Map<string, number>()
    return {
      see(happening) {
        if (happening.what === 'died') under.delete(happening.life)
        if (happening.what === 'forgotten' || (happening.what === 'told' && happening.isForgotten))
          forgottenAtMs.set(happening.key, nowMs())
        if (happening.what === 'loaded') under.get(happening.load.life)?.delete(happening.load)
        if (happening.what !== 'loading') return
        const { load } = happening
        const ofLife = under.get(load.life) ?? new Set()
        under.set(load.life, ofLife)
        // What is not over at its deadline is given up, though it may go on at the origin.
        const others = [...ofLife].filter(({ key, isGivenUp }) => key === load.key && !isGivenUp())
        ofLife.add(load)
        if (nowMs() < (forgottenAtMs.get(load.key) ?? Number.NEGATIVE_INFINITY) + NEWS_MAX_MS) return
        const enough = others.find(({ floor }) => floor >= load.floor)
        if (enough)
          broken(`${load.life.name} loads ${load.key} (${load.floor}), and does already (${enough.floor})`)
        if (others.length >= LOADS_PER_KEY)
          broken(`${load.life.name} loads ${load.key} ${others.length + 1} times at once`)
      },
    }
  },
}

interface Holding {
  life: Life
  token: string
  floor: number
  atMs: number
  untilMs: number
  /** Calls that its life had lost when it got the lease. */
  lost: number
}

/** How long a fill may go on with nobody waiting and nothing loading: its calls' way to the shared cache and back. */
const WAY_MS = 500

/**
 * C2, in the fleet, while the shared cache is up: one instance at a time fills a key; nobody loads past it; and whose
 * load is over lets another try at once. An instance that has lost a call is excused as long as that may matter.
 */
export const oneFill: NamedChecker = {
  name: 'C2 one fill per fleet',
  make({ plan: { rules, hasShared }, nowMs, broken }) {
    const holding = new Map<string, Holding>()
    /** When a life last had a lease of a key, lost a call, or stood still. */
    const hadMs = new Map<string, number>()
    const lost = new Map<Life, { count: number; atMs: number; isOwing: boolean }>()
    const stalledMs = new Map<Life, number>()
    const waiting = new Map<string, number>()
    /** Since when a life has had nobody waiting for a key, and no load of it. */
    const idleSinceMs = new Map<string, number>()
    let suspects: { life: Life; key: string; other: string }[] = []
    const nameOf = (life: Life, key: string) => `${life.name} ${key}`
    const count = (name: string, by: number) => {
      waiting.set(name, (waiting.get(name) ?? 0) + by)
      if (waiting.get(name) === 0) idleSinceMs.set(name, nowMs())
    }
    const lostBy = (life: Life) =>
      lost.get(life) ?? { count: 0, atMs: Number.NEGATIVE_INFINITY, isOwing: false }
    const live = (key: string) => {
      const one = holding.get(key)
      return one && nowMs() < one.untilMs && one.life.isAlive ? one : undefined
    }
    return {
      see(happening) {
        const { what } = happening
        if (!hasShared) return
        if (what === 'emptied') holding.clear()
        if (what === 'stalled') stalledMs.set(happening.life, nowMs())
        if (what === 'began') count(nameOf(happening.read.life, happening.read.key), 1)
        if (what === 'ended') count(nameOf(happening.read.life, happening.read.key), -1)
        if (what === 'loading') count(nameOf(happening.load.life, happening.load.key), 1)
        if (what === 'loaded') count(nameOf(happening.load.life, happening.load.key), -1)
        if (what === 'stored' || what === 'released') {
          if (holding.get(happening.key)?.token === happening.token) holding.delete(happening.key)
        }
        if (what === 'forgotten') holding.delete(happening.key)
        if (what === 'outdated' && (holding.get(happening.key)?.floor ?? 0) < happening.version)
          holding.delete(happening.key)
        if (what === 'looked') {
          const { life, key, floor, token, look } = happening
          const other = live(key)
          if (look.fill === 'yours') {
            if (other && other.token !== token && other.floor >= floor)
              broken(`${life.name} may fill ${key}, and so may ${other.life.name}`)
            hadMs.set(nameOf(life, key), nowMs())
            const untilMs = nowMs() + look.leaseMs
            const reached = Math.max(floor, look.floor)
            holding.set(key, {
              life,
              token,
              floor: reached,
              atMs: nowMs(),
              untilMs,
              lost: lostBy(life).count,
            })
          }
          if (look.fill === 'others' && other) {
            const name = nameOf(other.life, key)
            const sinceMs = Math.max(idleSinceMs.get(name) ?? 0, other.atMs)
            const isIdle = (waiting.get(name) ?? 0) === 0 && nowMs() - sinceMs > WAY_MS
            const isExcused =
              lostBy(other.life).count > other.lost ||
              (stalledMs.get(other.life) ?? -1) >= other.atMs - WAY_MS
            if (isIdle && !isExcused)
              broken(`${life.name} waits for ${other.life.name} to fill ${key}, which is through with it`)
          }
        }
        if (what === 'loading') {
          const { life, key, floor } = happening.load
          const other = live(key)
          if (!other || other.life === life || other.floor < floor) return
          suspects.push({ life, key, other: other.life.name })
        }
      },
      /** A call that is lost is counted in the step in which the load begins without it. */
      look(life, { shared }: CacheCounters) {
        if (!shared) return
        const before = lostBy(life)
        const now = shared.failures + shared.skipped
        if (now !== before.count || shared.owed > 0 !== before.isOwing)
          lost.set(life, { count: now, atMs: nowMs(), isOwing: shared.owed > 0 })
        for (const { key, other } of suspects.filter((one) => one.life === life)) {
          // As long as a place in the budget and a load of the key before it may have taken.
          const sinceMs = nowMs() - rules.waitMs - 2 * rules.loadMs
          const excuses = [hadMs.get(nameOf(life, key)), lostBy(life).atMs, stalledMs.get(life)]
          if (lostBy(life).isOwing || excuses.some((atMs) => (atMs ?? -1) >= sinceMs)) continue
          broken(`${life.name} loads ${key}, which ${other} is to fill`)
        }
        if (suspects.length > 0) suspects = suspects.filter((one) => one.life !== life)
      },
    }
  },
}
