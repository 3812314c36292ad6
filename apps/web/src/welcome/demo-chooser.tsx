import type { Welcome } from '@garner/server/api'
import { useGarner } from '../garner.ts'
import { Pip } from '../ui/person.tsx'

const WHO: Record<string, string> = {
  alice: 'in the study group',
  bob: 'in the study group',
  carol: 'in no group',
  admin: 'runs this Garner',
}

/** A demo has no passwords: one is who one says, in this tab only. */
export function DemoChooser({ people }: { people: Welcome['demo_users'] }) {
  const { demoUser, queries, api } = useGarner()
  return (
    <section aria-labelledby="demo">
      <header>
        <h1 id="demo">Who would you like to be?</h1>
        <p>
          This is a demo: no passwords, and a built-in site stands in for the internet. Open a second tab to
          be two people at once.
        </p>
      </header>
      <ul className="people card">
        {people.map((person) => (
          <li key={person.id}>
            <button
              type="button"
              onClick={() => {
                demoUser.set(person.id)
                api.forgetVersions()
                void queries.invalidateQueries({ queryKey: ['me'] })
              }}
            >
              <Pip person={person} kind="big" />
              <span>
                <strong>
                  <bdi>{person.name}</bdi>
                </strong>
                {WHO[person.id] && <small>{WHO[person.id]}</small>}
              </span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  )
}
