import type { AdminUser, Me } from '@garner/server/api'
import { type UseQueryResult, useMutation, useQuery } from '@tanstack/react-query'
import { useGarner } from '../garner.ts'
import { explained } from '../http/failure.ts'
import { useNow } from '../ui/countdown.tsx'
import { Pip } from '../ui/person.tsx'
import { ago } from '../words/calendar.ts'
import { Problem, Section } from './section.tsx'

/** Somebody at the door should not wait for a reload. */
const LOOK_MS = 15_000

export function usePeople(me: Me): UseQueryResult<AdminUser[]> {
  const { api } = useGarner()
  return useQuery({
    queryKey: ['people'],
    queryFn: () => api.people(),
    enabled: me.role === 'admin',
    refetchInterval: LOOK_MS,
  })
}

const ORDER = { pending: 0, approved: 1, rejected: 2 }

export function People({ me, people }: { me: Me; people: UseQueryResult<AdminUser[]> }) {
  const { api, queries, notice } = useGarner()
  const decide = useMutation({
    mutationFn: ({ person, verdict }: { person: AdminUser; verdict: 'approve' | 'reject' }) =>
      api.decide(person.id, verdict),
    onSuccess: (person) =>
      notice.show(person.status === 'approved' ? `${person.name} is in` : `${person.name} was turned away`),
    onSettled: () => queries.invalidateQueries({ queryKey: ['people'] }),
  })
  const list = people.data?.toSorted((a, b) => ORDER[a.status] - ORDER[b.status]) ?? []
  return (
    <Section id="people" title="People" about="You run this Garner, so you decide who comes in.">
      <Problem
        words={people.error ? explained(people.error) : decide.error ? explained(decide.error) : null}
      />
      <ul className="things">
        {list.map((person) => (
          <PersonRow
            key={person.id}
            person={person}
            isMe={person.id === me.id}
            onDecide={(verdict) => decide.mutate({ person, verdict })}
          />
        ))}
      </ul>
    </Section>
  )
}

function PersonRow(props: {
  person: AdminUser
  isMe: boolean
  onDecide(verdict: 'approve' | 'reject'): void
}) {
  const { person, isMe, onDecide } = props
  const nowMs = useNow(60_000)
  const asked = ago(Date.parse(person.asked_at), { nowMs })
  const words = {
    pending: `asked ${asked}`,
    approved: person.role === 'admin' ? 'runs this Garner' : `asked ${asked}, let in`,
    rejected: 'turned away',
  }[person.status]
  return (
    <li>
      <Pip person={person} kind={person.status === 'approved' ? 'big' : 'big hollow'} />
      <div>
        <strong>
          <bdi>{isMe ? 'You' : person.name}</bdi>
        </strong>
        <p>
          {person.email && <bdi>{person.email}</bdi>} {words}
        </p>
      </div>
      <div className="buttons">
        {person.status !== 'approved' && (
          <button
            type="button"
            className={`btn tight ${person.status === 'pending' ? 'primary' : ''}`}
            aria-label={`Let in ${person.name}`}
            onClick={() => onDecide('approve')}
          >
            Let in
          </button>
        )}
        {person.status !== 'rejected' && !isMe && person.role !== 'admin' && (
          <button
            type="button"
            className="btn tight quiet"
            aria-label={`Turn away ${person.name}`}
            onClick={() => onDecide('reject')}
          >
            Turn away
          </button>
        )}
      </div>
    </li>
  )
}
