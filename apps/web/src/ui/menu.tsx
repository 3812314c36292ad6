import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react'

interface MenuProps {
  /** What the menu is called. */
  label: string
  /** The button: what it shows, what it is called, how it looks. */
  button: ReactNode
  buttonLabel?: string
  buttonClass: string
  className?: string
  /** `close` also gives the focus back to the button. */
  children(close: () => void): ReactNode
}

/**
 * A button with a menu: arrows, Home and End move, a letter jumps, Esc and Tab close. The popover is the browser's
 * own, so it lies above everything and a click elsewhere closes it; on phones it is a sheet at the bottom.
 */
export function Menu(props: MenuProps) {
  const [open, setOpen] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  const menu = useRef<HTMLDivElement>(null)
  const id = useId()
  const close = () => {
    setOpen(false)
    button.current?.focus()
  }

  useEffect(() => {
    const element = menu.current
    const opener = button.current
    if (!open || !element || !opener) return
    element.showPopover()
    place(element, opener)
    items(element)[0]?.focus({ preventScroll: true })
    const onToggle = (event: Event) => {
      if ((event as ToggleEvent).newState !== 'closed') return
      setOpen(false)
      if (element.contains(document.activeElement) || document.activeElement === document.body) opener.focus()
    }
    const onMove = () => place(element, opener)
    element.addEventListener('toggle', onToggle)
    addEventListener('resize', onMove)
    return () => {
      element.removeEventListener('toggle', onToggle)
      removeEventListener('resize', onMove)
    }
  }, [open])

  return (
    <>
      <button
        ref={button}
        type="button"
        className={props.buttonClass}
        aria-haspopup="menu"
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        aria-label={props.buttonLabel}
        onClick={() => setOpen((before) => !before)}
      >
        {props.button}
      </button>
      {open && (
        <div
          ref={menu}
          id={id}
          role="menu"
          tabIndex={-1}
          aria-label={props.label}
          popover="auto"
          className={`sheet menu ${props.className ?? ''}`}
          onKeyDown={(event) => onKey(event, close)}
        >
          {props.children(close)}
        </div>
      )}
    </>
  )
}

function items(menu: HTMLElement): HTMLElement[] {
  return [...menu.querySelectorAll<HTMLElement>('[role^="menuitem"]:not([aria-disabled="true"])')]
}

function onKey(event: KeyboardEvent<HTMLElement>, close: () => void): void {
  const all = items(event.currentTarget)
  const at = all.indexOf(document.activeElement as HTMLElement)
  const step: Record<string, number> = {
    ArrowDown: at + 1,
    ArrowUp: at - 1,
    Home: 0,
    End: all.length - 1,
  }
  if (event.key === 'Escape' || event.key === 'Tab') {
    event.preventDefault()
    close()
  } else if (event.key in step) {
    event.preventDefault()
    all.at((step[event.key] ?? 0) % all.length)?.focus()
  } else if (event.key.length === 1 && !event.ctrlKey && !event.metaKey && event.key !== ' ') {
    const letter = event.key.toLowerCase()
    const after = [...all.slice(at + 1), ...all.slice(0, at + 1)]
    after.find((item) => item.textContent?.trim().toLowerCase().startsWith(letter))?.focus()
  }
  event.stopPropagation()
}

/** Below the button, or above where there is no room, inside the window; phones are placed by the stylesheet. */
function place(menu: HTMLElement, button: HTMLElement): void {
  if (matchMedia('(max-width: 899px)').matches) {
    menu.style.removeProperty('left')
    menu.style.removeProperty('top')
    return
  }
  const at = button.getBoundingClientRect()
  const { offsetWidth, offsetHeight } = menu
  // An icon at the end of a row has its menu within the row, not beside it.
  const isRight = at.width <= 48 || at.left + offsetWidth > innerWidth - 12
  const left = isRight ? at.right - offsetWidth : at.left
  const isBelow = at.bottom + offsetHeight + 12 < innerHeight || at.top < offsetHeight
  menu.style.left = `${Math.max(12, left)}px`
  menu.style.top = `${isBelow ? at.bottom + 4 : at.top - offsetHeight - 4}px`
}
