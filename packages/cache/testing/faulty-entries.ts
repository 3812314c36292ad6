import type { SharedEntries } from '../src/store.ts'
import type { Place } from './place.ts'

/** Shared entries whose calls the test lets fail or hang. */
export function faulty(place: Place) {
  const real = place.entries
  const state = { way: 'works' as 'works' | 'fails' | 'hangs', calls: 0, hear: [] as (() => void)[] }
  const through = <A extends unknown[], R>(method: (...args: A) => Promise<R>) => {
    return (...args: A): Promise<R> => {
      state.calls++
      if (state.way === 'fails') return Promise.reject(new Error('connection lost'))
      if (state.way === 'hangs') return new Promise<R>(() => {})
      return method(...args)
    }
  }
  const entries: SharedEntries = {
    look: through(real.look),
    store: through(real.store),
    release: through(real.release),
    invalidate: through(real.invalidate),
    forget: through(real.forget),
    listen: real.listen,
  }
  return { entries, state }
}

/** Shared entries one of whose calls, or its answer, the test can hold back. */
export function held(place: Place, method: 'look' | 'store' | 'forget') {
  let gate: { at: 'call' | 'answer'; opened: Promise<void> } | null = null
  const real = place.entries[method] as (...args: unknown[]) => Promise<unknown>
  const entries = {
    ...place.entries,
    async [method](...args: unknown[]) {
      const meets = gate
      if (meets?.at === 'call') await meets.opened
      const answer = await real(...args)
      if (meets?.at === 'answer') await meets.opened
      return answer
    },
  } as SharedEntries
  /** From now on; what it answers lets go. */
  const hold = (at: 'call' | 'answer') => {
    const { promise, resolve } = Promise.withResolvers<void>()
    gate = { at, opened: promise }
    return () => {
      gate = null
      resolve()
    }
  }
  return { entries, hold }
}
