import { useId, useState } from 'react'
import { useGarner } from '../garner.ts'
import { PasswordField, TextField } from './fields.tsx'
import { DoorProblem, doorWords } from './problems.tsx'
import { useDoor } from './use-door.ts'

export function SignIn({ onJoin }: { onJoin(): void }) {
  const { api } = useGarner()
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const id = useId()
  const door = useDoor(() => api.signIn({ email: email.trim(), password }))
  return (
    <section aria-labelledby={id}>
      <header>
        <h1 id={id}>Sign in</h1>
      </header>
      <form onSubmit={door.submit}>
        {door.failure && <DoorProblem words={doorWords(door.failure, 'in')} isWait={door.failure.isBusy} />}
        <TextField label="Email" type="email" value={email} onChange={setEmail} autoComplete="username" />
        <PasswordField
          label="Password"
          value={password}
          onChange={setPassword}
          autoComplete="current-password"
        />
        <button type="submit" className="btn primary" aria-disabled={door.busy || undefined}>
          Sign in
        </button>
        <p className="small center">
          No account yet?{' '}
          <a
            href="/join"
            onClick={(event) => {
              event.preventDefault()
              onJoin()
            }}
          >
            Ask for one
          </a>
        </p>
      </form>
    </section>
  )
}
