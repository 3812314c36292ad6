import { Fragment } from 'react'
import { Dialog } from './dialog.tsx'

/** Keys that are pressed together or one after the other, and what they do. */
export type KeyWords = readonly [keys: readonly string[], words: string]

const EVERYWHERE: readonly KeyWords[] = [
  [['g', 'r'], 'Go to Reading'],
  [['g', 'm'], 'Go to Meals'],
  [['g', 's'], 'Go to Settings'],
  [['Ctrl', 'Enter'], 'Save what is open'],
  [['Esc'], 'Close'],
]

/** A screen's own keys, and those of every screen. */
export function KeysSheet({ own, onClose }: { own: readonly KeyWords[]; onClose(): void }) {
  return (
    <Dialog title="Keys" kind="small" onClose={onClose}>
      <dl className="keys">
        {[...own, ...EVERYWHERE].map(([keys, words]) => (
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
