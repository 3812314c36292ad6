import type { Me } from '@garner/server/api'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { useGarner } from '../garner.ts'
import { explained } from '../http/failure.ts'
import { writeOutbox } from '../reading/outbox.ts'
import { useSignOut } from '../use-sign-out.ts'
import { Problem, Section } from './section.tsx'

export function DeleteAccount({ me }: { me: Me }) {
  const { api, browser } = useGarner()
  const signOut = useSignOut()
  const [sure, setSure] = useState('')
  const isSure = sure.trim().toLowerCase() === 'delete'
  const remove = useMutation({
    mutationFn: () => api.deleteMe(),
    onSuccess: async () => {
      writeOutbox(browser.shelf, me.id, [])
      await signOut()
    },
  })
  return (
    <Section
      id="leave"
      title="Delete account"
      className="leave"
      about="First everything of yours that is still waiting, then your links, marks and account. This cannot be undone; backups keep it until they expire."
    >
      <form
        className="buttons sure"
        onSubmit={(event) => {
          event.preventDefault()
          if (isSure && !remove.isPending) remove.mutate()
        }}
      >
        <p className="field">
          <label htmlFor="sure">
            Type <strong>delete</strong> to go on
          </label>
          <input
            id="sure"
            className="input"
            autoComplete="off"
            autoCapitalize="none"
            value={sure}
            onChange={(event) => setSure(event.target.value)}
          />
        </p>
        <button type="submit" className="btn danger" aria-disabled={!isSure || undefined}>
          Delete my account
        </button>
      </form>
      <Problem words={remove.error ? explained(remove.error) : null} />
    </Section>
  )
}
