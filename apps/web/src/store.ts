import { useSyncExternalStore } from 'react'

/** A value that lives outside the server's data (a toast, the outbox, a preference) and that components can watch. */
export interface Store<T> {
  get(): T
  set(next: T | ((before: T) => T)): void
  subscribe(listener: () => void): () => void
}

export function createStore<T>(initial: T): Store<T> {
  let value = initial
  const listeners = new Set<() => void>()
  return {
    get: () => value,
    set(next) {
      const after = next instanceof Function ? next(value) : next
      if (Object.is(after, value)) return
      value = after
      for (const listener of [...listeners]) listener()
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

export function useStore<T>(store: Store<T>): T {
  return useSyncExternalStore(store.subscribe, store.get)
}
