import type { Bookmark } from '@garner/server/api'
import { bare, bareParts } from '../words/link.ts'

/** The title; where there is none, the file's name or the address. Used in names of buttons too. */
export function nameOf(item: Pick<Bookmark, 'title' | 'shown' | 'url'>): string {
  return item.title ?? item.shown ?? bare(item.url)
}

export function hasOnlyAddress(item: Pick<Bookmark, 'title' | 'shown'>): boolean {
  return item.title === null && item.shown === null
}

/** The address, where lines may break between site and path. */
export function BareAddress({ url }: { url: string }) {
  const { host, path } = bareParts(url)
  return (
    <span className="bare" dir="ltr">
      {host}
      <wbr />
      {path}
    </span>
  )
}

export function LinkName({ item }: { item: Pick<Bookmark, 'title' | 'shown' | 'url'> }) {
  return hasOnlyAddress(item) ? <BareAddress url={item.url} /> : <bdi>{nameOf(item)}</bdi>
}
