import { Icon } from '../ui/icon.tsx'
import type { TitleState } from '../words/title.ts'

/** Hatched while the title is on its way; an icon and words where it will not come. */
export function TitleLine({ state }: { state: TitleState }) {
  return (
    <p className={`state ${state.tone}`}>
      {state.tone === 'accent' && <span className="skeleton" />}
      {state.icon && <Icon name={state.icon} />}
      {state.words}
    </p>
  )
}
