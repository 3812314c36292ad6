import type { GroupSummary, Me } from '@garner/server/api'
import { useEffect } from 'react'
import { Icon, type IconName } from '../ui/icon.tsx'
import { usePlace } from '../ui/location.tsx'
import { DeleteAccount } from './delete-account.tsx'
import { Estimates } from './estimates.tsx'
import { Goals } from './goals.tsx'
import { Groups } from './groups.tsx'
import { People, usePeople } from './people.tsx'
import { Sharing } from './sharing.tsx'
import { Tokens } from './tokens.tsx'
import { You } from './you.tsx'
import './settings.css'

export function SettingsScreen({ me, groups }: { me: Me; groups: GroupSummary[] }) {
  const place = usePlace()
  const people = usePeople(me)
  const asking = people.data?.filter((person) => person.status === 'pending').length ?? 0
  const sections: { id: string; icon: IconName; words: string; count?: number }[] = [
    { id: 'you', icon: 'user', words: 'You' },
    { id: 'groups', icon: 'group', words: 'Groups' },
    { id: 'estimates', icon: 'gauge', words: 'Estimates' },
    { id: 'goals', icon: 'chart', words: 'Goals' },
    { id: 'sharing', icon: 'share', words: 'Sharing' },
    { id: 'tokens', icon: 'key', words: 'API tokens' },
    ...(me.role === 'admin'
      ? [{ id: 'people', icon: 'shield' as const, words: 'People', count: asking }]
      : []),
    { id: 'leave', icon: 'trash', words: 'Delete account' },
  ]
  const here = place.hash.slice(1) || 'you'

  useEffect(() => {
    if (place.hash !== '') document.getElementById(place.hash.slice(1))?.scrollIntoView()
  }, [place.hash])

  return (
    <div className="settings">
      <h1>Settings</h1>
      <nav className="toc" aria-label="Settings">
        <ul className="list">
          {sections.map((section) => (
            <li key={section.id}>
              <a href={`#${section.id}`} aria-current={section.id === here || undefined}>
                <Icon name={section.icon} />
                {section.words}
                {section.count !== undefined && section.count > 0 && (
                  <span className="tag accent count">
                    {section.count}
                    <span className="visually-hidden"> waiting</span>
                  </span>
                )}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <div className="all">
        <You me={me} />
        <Groups me={me} groups={groups} />
        <Estimates />
        <Goals />
        <Sharing />
        <Tokens />
        {me.role === 'admin' && <People me={me} people={people} />}
        <DeleteAccount me={me} />
      </div>
    </div>
  )
}
