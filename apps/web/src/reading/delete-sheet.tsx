import type { Bookmark } from '@garner/server/api'
import { AskOnce } from '../ui/ask-once.tsx'
import { useReading } from './context.tsx'
import { LinkName } from './link-name.tsx'

/** What goes is gone for everyone in the group. */
export function DeleteSheet({ item, onClose }: { item: Bookmark; onClose(): void }) {
  const { links, group } = useReading()
  const onYes = () => {
    onClose()
    return links.remove(item)
  }
  return (
    <AskOnce title="Delete this link?" yes="Delete" no="Keep it" onYes={onYes} onClose={onClose}>
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
    </AskOnce>
  )
}
