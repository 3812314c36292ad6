import type { ReactNode } from 'react'
import { Icon, type IconName } from './icon.tsx'

export type Tone = 'info' | 'warn' | 'bad' | 'ok' | 'accent'

/** What happened, what Garner does about it, what you may do. */
export function Banner(props: {
  tone: Tone
  icon: IconName
  children: ReactNode
  action?: ReactNode
  role?: 'alert' | 'status'
}) {
  return (
    <div className={`banner ${props.tone}`} role={props.role}>
      <Icon name={props.icon} />
      <p>{props.children}</p>
      {props.action}
    </div>
  )
}
