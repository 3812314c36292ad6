import type { Bookmark } from '@garner/server/api'
import { Icon, type IconName } from '../ui/icon.tsx'
import { Menu } from '../ui/menu.tsx'
import { safeHref } from '../words/link.ts'
import { useReading } from './context.tsx'
import { nameOf } from './link-name.tsx'
import { mayEdit } from './rights.ts'

interface Choice {
  icon: IconName
  words: string
  act(): void
}

export function RowMenu({ item }: { item: Bookmark }) {
  const { askToDelete, edit, links, me, showDetails } = useReading()
  const name = nameOf(item)
  const choices: (Choice | false)[] = [
    safeHref(item.url) !== null && { icon: 'open', words: 'Open', act: () => links.open(item) },
    { icon: 'info', words: 'Details', act: () => showDetails(item) },
    mayEdit(item, me) && {
      icon: 'note',
      words: item.note ? 'Edit note' : 'Add a note',
      act: () => edit(item, 'note'),
    },
    mayEdit(item, me) && { icon: 'pencil', words: 'Write a title', act: () => edit(item, 'title') },
    { icon: 'retry', words: 'Look for the title again', act: () => links.lookAgain(item) },
    { icon: 'copy', words: 'Copy link', act: () => links.copy(item) },
    mayEdit(item, me) && { icon: 'trash', words: 'Delete', act: () => askToDelete(item) },
  ]
  return (
    <Menu label={name} buttonLabel={`More for ${name}`} buttonClass="icon-btn" button={<Icon name="more" />}>
      {(close) =>
        choices.map(
          (choice) =>
            choice && (
              <button
                key={choice.words}
                type="button"
                role="menuitem"
                tabIndex={-1}
                onClick={() => {
                  close()
                  choice.act()
                }}
              >
                <Icon name={choice.icon} />
                {choice.words}
              </button>
            ),
        )
      }
    </Menu>
  )
}
