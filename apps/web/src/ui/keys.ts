import { useEffect, useRef } from 'react'
import { useGarner } from '../garner.ts'
import { useStore } from '../store.ts'

/** A sequence such as `g r` must follow this closely, or the first key means nothing. */
const SEQUENCE_MS = 1_500

export type Keys = Record<string, () => void>

/**
 * Single keys for the whole page. They never fire in a field, with a modifier, behind an open dialog or menu, or when
 * switched off in Settings; Esc always does. Two keys are written with a space: `g r`.
 */
export function useKeys(keys: Keys): void {
  const { preferences, browser } = useGarner()
  const isOn = useStore(preferences.singleKeys)
  const now = useRef(keys)
  now.current = keys
  useEffect(() => {
    let first: { key: string; atMs: number } | null = null
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return
      if (document.querySelector('dialog[open], [popover]:popover-open')) return
      if (event.key !== 'Escape' && (!isOn || isField(event.target))) return
      const isFollowing = first !== null && browser.clock.nowMs() - first.atMs < SEQUENCE_MS
      const both = isFollowing && first ? now.current[`${first.key} ${event.key}`] : undefined
      const startsOne = Object.keys(now.current).some((name) => name.startsWith(`${event.key} `))
      first = !both && startsOne ? { key: event.key, atMs: browser.clock.nowMs() } : null
      const act = both ?? now.current[event.key]
      if (!act) return
      if (event.key !== 'Escape') event.preventDefault()
      act()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [isOn, browser])
}

export function isField(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || target.closest('textarea, select, input:not([type="checkbox"])') !== null)
  )
}
