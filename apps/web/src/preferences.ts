import type { Shelf } from './browser.ts'
import { createStore, type Store } from './store.ts'

export type Look = 'system' | 'light' | 'dark'

/** What this browser remembers for its person; nothing here is known to the server. */
export interface Preferences {
  look: Store<Look>
  singleKeys: Store<boolean>
  lastGroup: Store<string | null>
}

export function readPreferences(shelf: Shelf): Preferences {
  const look = shelf.read('garner.look')
  return {
    look: kept(
      shelf,
      'garner.look',
      look === 'light' || look === 'dark' ? (look as Look) : 'system',
      (value) => (value === 'system' ? null : value),
    ),
    singleKeys: kept(shelf, 'garner.keys', shelf.read('garner.keys') !== 'off', (on) => (on ? null : 'off')),
    lastGroup: kept(shelf, 'garner.group', shelf.read('garner.group'), (group) => group),
  }
}

function kept<T>(shelf: Shelf, key: string, initial: T, text: (value: T) => string | null): Store<T> {
  const store = createStore(initial)
  store.subscribe(() => shelf.write(key, text(store.get())))
  return store
}

/** The page follows the system unless told otherwise. */
export function applyLook(root: HTMLElement, look: Look): void {
  if (look === 'system') delete root.dataset.theme
  else root.dataset.theme = look
}
