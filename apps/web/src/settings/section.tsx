import type { ReactNode } from 'react'
import { Icon } from '../ui/icon.tsx'

export function Section(props: {
  id: string
  title: string
  about?: string
  action?: ReactNode
  className?: string
  children: ReactNode
}) {
  const heading = <h2 id={`h-${props.id}`}>{props.title}</h2>
  return (
    <section className={`card pad ${props.className ?? ''}`} id={props.id} aria-labelledby={`h-${props.id}`}>
      <header>
        {props.action ? (
          <div className="head-row">
            {heading}
            {props.action}
          </div>
        ) : (
          heading
        )}
        {props.about && <p>{props.about}</p>}
      </header>
      {props.children}
    </section>
  )
}

export function Problem({ words }: { words: string | null }) {
  return words === null ? null : (
    <p className="error" role="alert">
      <Icon name="alert" />
      {words}
    </p>
  )
}
