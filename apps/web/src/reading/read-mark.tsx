import type { Bookmark } from '@garner/server/api'
import { useReading } from './context.tsx'
import { nameOf } from './link-name.tsx'

/** Solid while unread, hollow when read: one's own mark, nobody else's. */
export function ReadMark({ item }: { item: Bookmark }) {
  const { links } = useReading()
  return (
    <button
      type="button"
      className="mark"
      aria-pressed={item.is_read}
      aria-label={`${item.is_read ? 'Mark as unread' : 'Mark as read'}: ${nameOf(item)}`}
      title={item.is_read ? 'Read. Press m for unread' : 'Unread. Press m when read'}
      onClick={() => links.setRead(item, !item.is_read)}
    >
      <span />
    </button>
  )
}
