import type { CSSProperties } from 'react'
import { names } from '../words/count.ts'
import { hostOf, hueOf, initialOf } from '../words/link.ts'

interface Person {
  id: string
  name: string
}

export const hue = (text: string) => ({ '--hue': hueOf(text) }) as CSSProperties

/** A person as a letter in their colour; always beside the name, or inside `Pips`, which says all names. */
export function Pip({ person, kind = '', title }: { person: Person; kind?: string; title?: string }) {
  return (
    <span className={`pip ${kind}`} style={hue(person.id)} title={title ?? person.name} aria-hidden="true">
      {initialOf(person.name)}
    </span>
  )
}

/** Beyond this the row would be all letters. */
const SHOWN_MAX = 6

export function Pips({ people, what }: { people: Person[]; what: string }) {
  const rest = people.length - SHOWN_MAX
  return (
    <span className="pips" role="img" aria-label={`${what} ${names(people.map((one) => one.name))}`}>
      {people.slice(0, SHOWN_MAX).map((one) => (
        <Pip key={one.id} person={one} />
      ))}
      {rest > 0 && (
        <span className="pip hollow" aria-hidden="true">
          +{rest}
        </span>
      )}
    </span>
  )
}

/** A site as a letter in its colour: nothing is fetched from anybody. */
export function SiteTile({ url }: { url: string }) {
  const host = hostOf(url)
  return (
    <span className="favicon" style={hue(host)} aria-hidden="true">
      {initialOf(host)}
    </span>
  )
}
