import type { GroupSummary, Me, Member } from '@garner/server/api'
import { useMutation } from '@tanstack/react-query'
import { useId, useRef, useState } from 'react'
import { useGarner } from '../garner.ts'
import { explained } from '../http/failure.ts'
import { Icon } from '../ui/icon.tsx'
import { Pip } from '../ui/person.tsx'
import { Problem } from './section.tsx'

/** Who reads this list. Anyone in it may add people; leaving is removing oneself. */
export function Members({ me, group }: { me: Me; group: GroupSummary }) {
  const { api, queries, notice } = useGarner()
  const [asked, setAsked] = useState<string | null>(null)
  const remove = useMutation({
    mutationFn: (member: Member) => api.removeMember(group.id, member.id),
    onSuccess: (_, member) =>
      notice.show(member.id === me.id ? `You left ${group.name}` : `${member.name} is out`),
    onSettled: () => queries.invalidateQueries({ queryKey: ['groups'] }),
  })
  return (
    <div className="members">
      <ul className="list" aria-label={`Members of ${group.name}`}>
        {group.members.map((member) => {
          const isMe = member.id === me.id
          const mayRemove = isMe || group.role === 'owner'
          return (
            <li key={member.id}>
              <Pip person={member} />
              <bdi>{isMe ? 'You' : member.name}</bdi>
              {mayRemove &&
                (asked === member.id ? (
                  <button type="button" className="btn tight danger" onClick={() => remove.mutate(member)}>
                    {isMe ? 'Leave, really' : 'Remove, really'}
                  </button>
                ) : (
                  <button
                    type="button"
                    className="btn tight quiet"
                    aria-label={isMe ? `Leave ${group.name}` : `Remove ${member.name}`}
                    onClick={() => setAsked(member.id)}
                  >
                    {isMe ? 'Leave' : 'Remove'}
                  </button>
                ))}
            </li>
          )
        })}
      </ul>
      <Problem words={remove.error ? explained(remove.error) : null} />
      <AddMember me={me} group={group} />
    </div>
  )
}

function AddMember({ me, group }: { me: Me; group: GroupSummary }) {
  const { api, browser, queries, notice } = useGarner()
  const [who, setWho] = useState('')
  const key = useRef({ who: '', id: '' })
  const id = useId()
  const add = useMutation({
    mutationFn: (wanted: string) => {
      if (key.current.who !== wanted) key.current = { who: wanted, id: browser.newId() }
      const person = me.demo && !wanted.includes('@') ? { user: wanted } : { email: wanted }
      return api.addMember(group.id, person, key.current.id)
    },
    onSuccess: (member) => {
      setWho('')
      notice.show(`${member.name} is in ${group.name}`)
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ['groups'] }),
  })
  return (
    <form
      className="add"
      onSubmit={(event) => {
        event.preventDefault()
        if (who.trim() !== '' && !add.isPending) add.mutate(who.trim())
      }}
    >
      <div className="field">
        <label htmlFor={id}>{me.demo ? 'Add someone by their id' : 'Add someone by their email'}</label>
        <input
          id={id}
          className="input"
          type={me.demo ? 'text' : 'email'}
          dir="ltr"
          autoComplete="off"
          autoCapitalize="none"
          placeholder={me.demo ? 'carol' : 'mei@example.org'}
          maxLength={320}
          value={who}
          onChange={(event) => setWho(event.target.value)}
        />
      </div>
      <button type="submit" className="btn">
        <Icon name="plus" />
        Add
      </button>
      <Problem words={add.error ? explained(add.error) : null} />
    </form>
  )
}
