import { useId, useState } from 'react'
import { useGarner } from '../garner.ts'
import { PasswordField, TextField } from './fields.tsx'
import { DoorProblem, doorWords } from './problems.tsx'
import { useDoor } from './use-door.ts'

export function AskIn({ onSignIn }: { onSignIn(): void }) {
  const { api } = useGarner()
  const [name, setName] = useState('')
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const id = useId()
  const door = useDoor(() => api.signUp({ name: name.trim(), email: email.trim(), password }))
  return (
    <section aria-labelledby={id}>
      <header>
        <h1 id={id}>Ask for an account</h1>
        <p>The person who runs this Garner lets people in. Usually that is someone you know.</p>
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
        <button type="submit" className="btn primary" aria-disabled={door.busy || undefined}>
          Ask to come in
        </button>
        <p className="small center">
          Have one?{' '}
          <a
            href="/"
            onClick={(event) => {
              event.preventDefault()
              onSignIn()
            }}
          >
            Sign in
          </a>
        </p>
      </form>
    </section>
  )
}
