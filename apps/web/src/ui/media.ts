import { useSyncExternalStore } from 'react'

/** From here there is room for a side pane. The same number stands in reading.css. */
const WIDE = '(min-width: 1240px)'

export function useWide(): boolean {
  return useSyncExternalStore(
    (listener) => {
      const media = matchMedia(WIDE)
      media.addEventListener('change', listener)
      return () => media.removeEventListener('change', listener)
    },
    () => matchMedia(WIDE).matches,
  )
}
