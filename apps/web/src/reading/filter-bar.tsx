import type { BookmarkList } from '@garner/server/api'
import { type RefObject, useEffect, useEffectEvent, useState } from 'react'
import { useGarner } from '../garner.ts'
import type { Filter } from '../http/api.ts'
import { Icon } from '../ui/icon.tsx'

/** A pause in the typing is long enough to ask the server; every letter would be one request each. */
const TYPING_MS = 250

export function FilterBar(props: {
  filter: Filter
  counts: BookmarkList['counts'] | undefined
  searchRef: RefObject<HTMLInputElement | null>
  /** On a phone the field is behind the magnifier. */
  isSearching: boolean
  onChange(filter: Filter): void
}) {
  const { filter, counts, onChange, searchRef } = props
  const choices = [
    ['all', 'All', null],
    ['unread', 'Unread', counts?.unread],
    ['mine', 'Mine', counts?.mine],
  ] as const
  return (
    <div className={`tools ${props.isSearching ? 'searching' : ''}`}>
      <fieldset className="seg">
        <legend className="visually-hidden">Show</legend>
        {choices.map(([show, words, number]) => (
          <button
            key={show}
            type="button"
            aria-pressed={filter.show === show}
            onClick={() => onChange({ ...filter, show })}
          >
            {words} {number != null && number > 0 && <span className="num quiet">{number}</span>}
          </button>
        ))}
      </fieldset>
      <SearchField q={filter.q} inputRef={searchRef} onChange={(q) => onChange({ ...filter, q })} />
    </div>
  )
}

function SearchField(props: {
  q: string
  inputRef: RefObject<HTMLInputElement | null>
  onChange(q: string): void
}) {
  const { q, inputRef, onChange } = props
  const { clock } = useGarner().browser
  const [text, setText] = useState(q)
  useEffect(() => setText(q), [q])
  const settle = useEffectEvent((wanted: string) => {
    if (wanted !== q) onChange(wanted)
  })
  useEffect(() => {
    const wanted = text.trim()
    const stop = new AbortController()
    void clock.sleep(TYPING_MS, stop.signal).then(() => {
      if (!stop.signal.aborted) settle(wanted)
    })
    return () => stop.abort()
  }, [text, clock])
  return (
    <search className="with-icon">
      <Icon name="search" />
      <label className="visually-hidden" htmlFor="search">
        Search titles, notes and sites
      </label>
      <input
        ref={inputRef}
        id="search"
        className="input"
        type="search"
        dir="auto"
        maxLength={200}
        placeholder="Search titles, notes, sites"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
    </search>
  )
}
