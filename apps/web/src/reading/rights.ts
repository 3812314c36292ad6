import type { Bookmark, Me } from '@garner/server/api'

/** The server decides; this only keeps buttons away that it would refuse. */
export function mayEdit(item: Bookmark, me: Me): boolean {
  return item.owner.id === me.id
}
