import type { BookmarkList, GroupSummary } from '@garner/server/api'
import { Icon } from '../ui/icon.tsx'
import { go } from '../ui/location.tsx'
import { Menu } from '../ui/menu.tsx'
import { Pips } from '../ui/person.tsx'
import { count } from '../words/count.ts'

/** The group's name, which is also how one goes to another group. */
export function ReadingHead(props: {
  group: GroupSummary | null
  groups: GroupSummary[]
  counts: BookmarkList['counts'] | undefined
  onNewGroup(): void
  onSearch?: (() => void) | undefined
}) {
  const { group, groups, counts } = props
  return (
    <div className="page-head head">
      <h1>
        <Menu
          label="Group"
          buttonClass="switcher"
          className="groups"
          button={
            <>
              <bdi>{group?.name ?? 'Your groups'}</bdi>
              <Icon name="down" />
            </>
          }
        >
          {(close) => (
            <>
              {groups.map((one) => (
                <button
                  key={one.id}
                  type="button"
                  role="menuitemradio"
                  aria-checked={one.id === group?.id}
                  tabIndex={-1}
                  onClick={() => {
                    close()
                    go(`/reading/${encodeURIComponent(one.id)}`)
                  }}
                >
                  <Icon name={one.personal ? 'user' : 'group'} />
                  <bdi>{one.name}</bdi>
                  <span className="count">{unreadWords(one)}</span>
                </button>
              ))}
              {groups.length > 0 && <hr />}
              <button
                type="button"
                role="menuitem"
                tabIndex={-1}
                className="quiet"
                onClick={() => {
                  close()
                  props.onNewGroup()
                }}
              >
                <Icon name="plus" />
                New group
              </button>
            </>
          )}
        </Menu>
      </h1>
      <p className="quiet small grow">{counts && countWords(counts)}</p>
      {group && group.members.length > 0 && <Pips people={group.members} what="Members:" />}
      {props.onSearch && (
        <button type="button" className="icon-btn only-narrow" aria-label="Search" onClick={props.onSearch}>
          <Icon name="search" />
        </button>
      )}
    </div>
  )
}

function unreadWords(group: GroupSummary): string {
  if (group.links === 0) return 'no links'
  return group.unread === 0 ? 'all read' : `${group.unread} unread`
}

function countWords(counts: BookmarkList['counts']): string {
  if (counts.all === 0) return 'No links yet'
  const links = count(counts.all, 'link', 'links')
  return counts.unread === 0 ? `${links}, all read by you` : `${links}, ${counts.unread} unread by you`
}
