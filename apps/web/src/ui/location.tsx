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

export function go(to: string, how: 'push' | 'replace' = 'push'): void {
  if (to === read()) return
  if (how === 'push') {
    history.pushState(null, '', to)
    if (!to.includes('#')) scrollTo(0, 0)
  } else history.replaceState(null, '', to)
  place.set(read())
}

/** A link within Garner: an ordinary one for a new tab, no page load for a plain click. */
export function Link(props: {
  to: string
  className?: string
  current?: boolean
  children: ReactNode
  onFollow?(): void
}) {
  const onClick = (event: MouseEvent) => {
    if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    props.onFollow?.()
    go(props.to)
  }
  return (
    <a
      href={props.to}
      className={props.className}
      aria-current={props.current ? 'page' : undefined}
      onClick={onClick}
    >
      {props.children}
    </a>
  )
}
