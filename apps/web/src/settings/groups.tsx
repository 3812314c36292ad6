import type { GroupSummary, Me } from '@garner/server/api'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { useGarner } from '../garner.ts'
import { explained } from '../http/failure.ts'
import { NewGroup } from '../reading/new-group.tsx'
import { Icon } from '../ui/icon.tsx'
import { Switch } from '../ui/switch.tsx'
import { count, names } from '../words/count.ts'
import { Members } from './members.tsx'
import { Problem, Section } from './section.tsx'

export function Groups({ me, groups }: { me: Me; groups: GroupSummary[] }) {
  const [isMaking, setIsMaking] = useState(false)
  return (
    <Section
      id="groups"
      title="Groups"
      action={
        <button type="button" className="btn tight" onClick={() => setIsMaking(true)}>
          <Icon name="plus" />
          New group
        </button>
      }
    >
      {groups.length === 0 && <p className="quiet small">You are in no group yet.</p>}
      <ul className="things">
        {groups.map((group) => (
          <GroupRow key={group.id} me={me} group={group} />
        ))}
      </ul>
      {isMaking && <NewGroup onClose={() => setIsMaking(false)} />}
    </Section>
  )
}

function GroupRow({ me, group }: { me: Me; group: GroupSummary }) {
  const { api, queries } = useGarner()
  const [isOpen, setIsOpen] = useState(false)
  // Of its own: the mutation says that it is pending a moment later, and until then the switch would spring back.
  const [wanted, setWanted] = useState<boolean | null>(null)
  const marks = useMutation({
    mutationFn: (on: boolean) => api.showReads(group.id, on),
    async onSettled() {
      await queries.invalidateQueries({ queryKey: ['groups'] })
      setWanted(null)
    },
  })
  const people = group.members.map((member) => (member.id === me.id ? 'You' : member.name))
  return (
    <li>
      <Icon name={group.personal ? 'user' : 'group'} />
      <div>
        <strong>
          <bdi>{group.name}</bdi>
        </strong>
        <p dir="auto">
          {group.personal ? 'Only you' : names(people)}. {count(group.links, 'link', 'links')}.
        </p>
      </div>
      {!group.personal && (
        <div className="buttons">
          <button
            type="button"
            className="btn tight"
            aria-expanded={isOpen}
            aria-label={`Members of ${group.name}`}
            onClick={() => setIsOpen(!isOpen)}
          >
            Members
          </button>
        </div>
      )}
      {!group.personal && (
        <div className="under">
          {isOpen && <Members me={me} group={group} />}
          <Switch
            label="Show the others which links I have read"
            hint={group.show_reads ? undefined : 'Off: your marks are for you alone.'}
            on={wanted ?? group.show_reads}
            onChange={(on) => {
              setWanted(on)
              marks.mutate(on)
            }}
          />
          <Problem words={marks.error ? explained(marks.error) : null} />
        </div>
      )}
    </li>
  )
}
