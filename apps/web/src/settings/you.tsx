import type { Me } from '@garner/server/api'
import { useState } from 'react'
import { useGarner } from '../garner.ts'
import { isUnsent } from '../meals/batch/row.ts'
import type { Look } from '../preferences.ts'
import { waitingCount } from '../reading/outbox.ts'
import { useStore } from '../store.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Icon } from '../ui/icon.tsx'
import { Pip } from '../ui/person.tsx'
import { Switch } from '../ui/switch.tsx'
import { useSignOut } from '../use-sign-out.ts'
import { count } from '../words/count.ts'
import { Problem, Section } from './section.tsx'

const LOOKS: [Look, string][] = [
  ['system', 'As the system'],
  ['light', 'Light'],
  ['dark', 'Dark'],
]

export function You({ me }: { me: Me }) {
  const { preferences, outbox, batch } = useGarner()
  const look = useStore(preferences.look)
  const singleKeys = useStore(preferences.singleKeys)
  const waiting = waitingCount(useStore(outbox.links))
  const photos = useStore(batch.state).rows.filter(isUnsent).length
  const signOut = useSignOut()
  const [isAsking, setIsAsking] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  const leave = async () => {
    setIsAsking(false)
    setProblem(await signOut())
  }
  return (
    <Section id="you" title="You">
      <div className="who">
        <Pip person={me} kind="big" />
        <div>
          <strong>
            <bdi>{me.name}</bdi>
          </strong>
          <p>
            {me.demo ? 'a person of this demo' : <bdi>{me.email}</bdi>}
            {me.role === 'admin' && ', runs this Garner'}
          </p>
        </div>
        <button
          type="button"
          className="btn tight"
          onClick={() => (waiting + photos > 0 ? setIsAsking(true) : void leave())}
        >
          <Icon name="signout" />
          {me.demo ? 'Be someone else' : 'Sign out'}
        </button>
      </div>
      <Problem words={problem} />
      <fieldset className="field">
        <legend className="label">Look</legend>
        <div className="seg">
          {LOOKS.map(([value, words]) => (
            <button
              key={value}
              type="button"
              aria-pressed={look === value}
              onClick={() => preferences.look.set(value)}
            >
              {words}
            </button>
          ))}
        </div>
      </fieldset>
      <Switch
        label="Single-key shortcuts"
        hint={
          <>
            Such as <kbd>/</kbd> and <kbd>m</kbd>. In Reading, press <kbd>?</kbd> to see them all.
          </>
        }
        on={singleKeys}
        onChange={(on) => preferences.singleKeys.set(on)}
      />
      {isAsking && (
        <Dialog title="Sign out now?" kind="small" onClose={() => setIsAsking(false)}>
          {waiting > 0 && (
            <p>
              {count(waiting, 'link is', 'links are')} still kept on this device only. They stay here and go
              up when you sign in again on this device.
            </p>
          )}
          {photos > 0 && (
            <p>
              {count(photos, 'photo is', 'photos are')} not uploaded yet and would have to be picked again.
            </p>
          )}
          <div className="buttons">
            <button type="button" className="btn" onClick={() => void leave()}>
              Sign out
            </button>
            <button type="button" className="btn primary" onClick={() => setIsAsking(false)}>
              Stay
            </button>
          </div>
        </Dialog>
      )}
    </Section>
  )
}
