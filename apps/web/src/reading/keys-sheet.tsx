import { Fragment } from 'react'
import { Dialog } from '../ui/dialog.tsx'

const KEYS: [string[], string][] = [
  [['/'], 'Go to the save box'],
  [['Ctrl', 'V'], 'Save the copied link, from anywhere'],
  [['j', 'k'], 'Next, previous'],
  [['o'], 'Open the link and mark it read'],
  [['m'], 'Read or unread'],
  [['e'], 'Edit note, title or link'],
  [['r'], 'Look for the title again'],
  [['i'], 'Details'],
  [['f'], 'Search'],
  [['g', 'r'], 'Go to Reading'],
  [['g', 's'], 'Go to Settings'],
  [['Ctrl', 'Enter'], 'Save what is open'],
  [['Esc'], 'Close'],
]

export function KeysSheet({ onClose }: { onClose(): void }) {
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
