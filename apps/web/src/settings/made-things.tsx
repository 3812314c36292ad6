import { useMutation, useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { useGarner } from '../garner.ts'
import { explained } from '../http/failure.ts'
import { Icon, type IconName } from '../ui/icon.tsx'
import { Problem, Section } from './section.tsx'

/** How one of them stands in the list. */
export interface ThingWords {
  name: string
  about: ReactNode
}

/**
 * What lets somebody else in, or a program: made here, shown once, since only its hash is kept, and ended here. `what` is
 * its name in the words around it (`New link`, `No links yet.`) and `end` what ending it is called (`Stop`).
 */
export function MadeThings<Thing extends { id: string }, Made extends Thing>(props: {
  id: 'sharing' | 'tokens'
  title: string
  about: string
  what: string
  icon: IconName
  end: string
  list(): Promise<Thing[]>
  onEnd(thing: Thing): Promise<unknown>
  /** The form that makes one, and has the list read again. */
  form(onMade: (made: Made) => void): ReactNode
  /** What is shown once, and copied. */
  secretOf(made: Made): string
  /** The button that copies it. */
  copy: string
  wordsOf(thing: Thing): ThingWords
}) {
  const { queries } = useGarner()
  const { id, what, end, icon } = props
  const things = useQuery({ queryKey: [id], queryFn: props.list })
  const [isMaking, setIsMaking] = useState(false)
  const [made, setMade] = useState<Made | null>(null)
  const ending = useMutation({
    mutationFn: props.onEnd,
    onSuccess: (_, thing) => setMade((shown) => (shown?.id === thing.id ? null : shown)),
    onSettled: () => queries.invalidateQueries({ queryKey: [id] }),
  })
  const onMade = (thing: Made) => {
    setMade(thing)
    setIsMaking(false)
  }
  const error = things.error ?? ending.error
  return (
    <Section
      id={id}
      title={props.title}
      about={props.about}
      action={
        <button
          type="button"
          className="btn tight"
          aria-expanded={isMaking}
          onClick={() => setIsMaking(!isMaking)}
        >
          <Icon name="plus" />
          New {what}
        </button>
      }
    >
      {isMaking && props.form(onMade)}
      {made && <Once secret={props.secretOf(made)} what={what} copy={props.copy} />}
      <Problem words={error ? explained(error) : null} />
      {things.data?.length === 0 && !made && <p className="quiet small">No {what}s yet.</p>}
      <ul className="things">
        {things.data?.map((thing) => {
          const { name, about } = props.wordsOf(thing)
          return (
            <li key={thing.id}>
              <Icon name={icon} />
              <div>
                <strong>
                  <bdi>{name}</bdi>
                </strong>
                <p>{about}</p>
              </div>
              <div className="buttons">
                <button
                  type="button"
                  className="btn tight danger"
                  aria-label={`${end} ${name}`}
                  onClick={() => ending.mutate(thing)}
                >
                  {end}
                </button>
              </div>
            </li>
          )
        })}
      </ul>
    </Section>
  )
}

function Once({ secret, what, copy }: { secret: string; what: string; copy: string }) {
  const { notice } = useGarner()
  const copied = `${what.charAt(0).toUpperCase()}${what.slice(1)} copied`
  return (
    <div role="status">
      <p className="small">
        <strong>Copy it now: it is shown once.</strong>
      </p>
      <div className="once">
        <code>{secret}</code>
        <button
          type="button"
          className="btn tight primary"
          onClick={() =>
            navigator.clipboard?.writeText(secret).then(
              () => notice.show(copied),
              () => notice.show('The browser did not allow copying. Select it by hand.'),
            )
          }
        >
          <Icon name="copy" />
          {copy}
        </button>
      </div>
    </div>
  )
}
