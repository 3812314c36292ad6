import { useId, useState } from 'react'
import { useGarner } from '../garner.ts'
import { PasswordField, TextField } from './fields.tsx'
import { DoorProblem, doorWords } from './problems.tsx'
import { useDoor } from './use-door.ts'

/** The first account, which runs this Garner, and its first group. */
export function SetUp() {
  const { api, browser, preferences } = useGarner()
  const [name, setName] = useState('')
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const [group, setGroup] = useState('')
  const id = useId()
  const door = useDoor(async () => {
    await api.signUp({ name: name.trim(), email: email.trim(), password })
    // The account stands either way; a group can be made later too.
    if (!group.trim()) return
    const made = await api.createGroup(group.trim(), browser.newId()).catch(() => null)
    if (made) preferences.lastGroup.set(made.id)
  })
  return (
    <section aria-labelledby={id}>
      <header>
        <h1 id={id}>Set up your Garner</h1>
        <p>
          This is the first visit, so the account you make now runs it: it lets people in and sees how things
          are going.
        </p>
      </header>
      <form onSubmit={door.submit}>
        {door.failure && <DoorProblem words={doorWords(door.failure, 'up')} isWait={door.failure.isBusy} />}
        <TextField label="Your name" value={name} onChange={setName} autoComplete="name" />
        <TextField label="Email" type="email" value={email} onChange={setEmail} autoComplete="email" />
        <PasswordField
          label="Password"
          isNew
          value={password}
          onChange={setPassword}
          autoComplete="new-password"
        />
        <p className="field">
          <label htmlFor={`${id}-group`}>
            First group <span className="quiet">(you can add more later)</span>
          </label>
          <input
            id={`${id}-group`}
            className="input"
            dir="auto"
            maxLength={80}
            autoComplete="off"
            placeholder="Family, study group, just me"
            value={group}
            onChange={(event) => setGroup(event.target.value)}
          />
        </p>
        <button type="submit" className="btn primary" aria-disabled={door.busy || undefined}>
          Create the account
        </button>
        <p className="small quiet center">
          Everything is kept on this machine. All that Garner asks for outside is the page of a link you save.
        </p>
      </form>
    </section>
  )
}
