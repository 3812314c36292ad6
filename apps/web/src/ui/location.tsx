import type { MouseEvent, ReactNode } from 'react'
import { createStore, useStore } from '../store.ts'

/** Where the page is: path, query and anchor. The whole router: two screens need no more. */
const place = createStore(read())

function read(): string {
  return typeof location === 'undefined' ? '/' : location.pathname + location.search + location.hash
}

if (typeof window !== 'undefined') addEventListener('popstate', () => place.set(read()))

export function usePlace(): URL {
  return new URL(useStore(place), 'http://here')
}

/** `over`: something that opens over the page, which stays where it was scrolled to; Back closes it. */
export function go(to: string, how: 'push' | 'over' | 'replace' = 'push'): void {
  if (to === read()) return
  if (how !== 'replace') {
    history.pushState(null, '', to)
    if (how === 'push' && !to.includes('#')) scrollTo(0, 0)
  } else history.replaceState(null, '', to)
  place.set(read())
}

/** A link within Garner: an ordinary one for a new tab, no page load for a plain click. */
export function Link(props: {
  to: string
  className?: string
  current?: boolean
  /** What it is the current one of; a page unless told. */
  currentAs?: 'page' | 'date'
  /** It opens over the page. */
  over?: boolean
  label?: string
  children: ReactNode
  onFollow?(): void
}) {
  const onClick = (event: MouseEvent) => {
    if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    props.onFollow?.()
    go(props.to, props.over ? 'over' : 'push')
  }
  return (
    <a
      href={props.to}
      className={props.className}
      aria-current={props.current ? (props.currentAs ?? 'page') : undefined}
      aria-label={props.label}
      onClick={onClick}
    >
      {props.children}
    </a>
  )
}
