import type { Bookmark } from '@garner/server/api'
import { Dialog } from '../ui/dialog.tsx'
import { useReading } from './context.tsx'
import { LinkName } from './link-name.tsx'

/** Asks once, because what goes is gone for everyone in the group. */
export function DeleteSheet({ item, onClose }: { item: Bookmark; onClose(): void }) {
  const { links, group } = useReading()
  return (
    <Dialog title="Delete this link?" kind="small" onClose={onClose}>
      <p className="sheet-text">
        <strong>
          <LinkName item={item} />
        </strong>
      </p>
      <p className="sheet-text">
        {group.personal || group.members.length < 2
          ? 'It goes with its note and marks.'
          : 'It goes for everyone in the group, with its note and marks.'}{' '}
        This cannot be undone.
      </p>
      <div className="buttons">
        <button
          type="button"
          className="btn danger"
          onClick={() => {
            onClose()
            void links.remove(item)
          }}
        >
          Delete
        </button>
        <button type="button" className="btn quiet" onClick={onClose}>
          Keep it
        </button>
      </div>
    </Dialog>
  )
}
