import type { RefCallback } from 'react'

/**
 * A ref that tells the styles how tall an element is, as a length on the root, for as long as it is there. What else
 * stands at that edge of the window keeps clear of it by `var(name, 0px)`, however its words wrap.
 */
export function heightAs(name: `--${string}`): RefCallback<HTMLElement> {
  return (element) => {
    if (element === null) return
    const { style } = document.documentElement
    const tell = () => style.setProperty(name, `${element.getBoundingClientRect().height}px`)
    const observer = new ResizeObserver(tell)
    observer.observe(element, { box: 'border-box' })
    tell()
    return () => {
      observer.disconnect()
      style.removeProperty(name)
    }
  }
}
