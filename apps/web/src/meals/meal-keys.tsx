import { Fragment } from 'react'
import { Dialog } from '../ui/dialog.tsx'

const KEYS: [string[], string][] = [
  [['a'], 'Add photos'],
  [['Ctrl', 'V'], 'Add copied photos, from anywhere'],
  [['n'], 'Write a meal without a photo'],
  [['←', '→'], 'The day before, the day after'],
  [['g', 'r'], 'Go to Reading'],
  [['g', 'm'], 'Go to Meals'],
  [['g', 's'], 'Go to Settings'],
  [['Ctrl', 'Enter'], 'Save what is open'],
  [['Esc'], 'Close'],
]

export function MealKeys({ onClose }: { onClose(): void }) {
  return (
    <Dialog title="Keys" kind="small" onClose={onClose}>
      <dl className="keys">
        {KEYS.map(([keys, words]) => (
          <Fragment key={words}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{words}</dd>
          </Fragment>
        ))}
      </dl>
      <p className="hint">Single keys can be switched off in Settings, You.</p>
    </Dialog>
  )
}
