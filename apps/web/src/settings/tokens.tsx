import type { ApiToken, CreatedApiToken } from '@garner/server/api'
import { useMutation } from '@tanstack/react-query'
import { useId, useRef, useState } from 'react'
import { useGarner } from '../garner.ts'
import { explained } from '../http/failure.ts'
import { useNow } from '../ui/countdown.tsx'
import { onDay } from '../words/calendar.ts'
import { MadeThings, type ThingWords } from './made-things.tsx'
import { Problem } from './section.tsx'

export function Tokens() {
  const { api } = useGarner()
  const nowMs = useNow(60_000)
  return (
    <MadeThings<ApiToken, CreatedApiToken>
      id="tokens"
      title="API tokens"
      about="For scripts and shortcuts that save links as you. Whoever has one can do what you can."
      what="token"
      icon="key"
      end="Revoke"
      list={() => api.tokens()}
      onEnd={(token) => api.revokeToken(token.id)}
      form={(onMade) => <NewToken onMade={onMade} />}
      secretOf={(token) => token.token}
      copy="Copy"
      wordsOf={(token) => tokenWords(token, nowMs)}
    />
  )
}

function NewToken({ onMade }: { onMade(token: CreatedApiToken): void }) {
  const { api, browser, queries } = useGarner()
  const [name, setName] = useState('')
  const key = useRef({ name: '', id: '' })
  const id = useId()
  const make = useMutation({
    mutationFn: (wanted: string) => {
      if (key.current.name !== wanted) key.current = { name: wanted, id: browser.newId() }
      return api.createToken(wanted, key.current.id)
    },
    onSuccess: onMade,
    // Also after a failure: it may have been made, and only its answer lost.
    onSettled: () => queries.invalidateQueries({ queryKey: ['tokens'] }),
  })
  return (
    <form
      className="add"
      onSubmit={(event) => {
        event.preventDefault()
        if (name.trim() !== '' && !make.isPending) make.mutate(name.trim())
      }}
    >
      <div className="field">
        <label htmlFor={id}>What is it for?</label>
        <input
          id={id}
          className="input"
          dir="auto"
          maxLength={80}
          autoComplete="off"
          placeholder="Phone shortcut"
          // biome-ignore lint/a11y/noAutofocus: the field was opened to be written in
          autoFocus
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
      </div>
      <button type="submit" className="btn primary">
        Make the token
      </button>
      <Problem words={make.error ? explained(make.error) : null} />
    </form>
  )
}

function tokenWords({ name, start, last_used_at: lastUsed }: ApiToken, nowMs: number): ThingWords {
  const used = lastUsed === null ? 'Never used.' : `Last used ${onDay(Date.parse(lastUsed), { nowMs })}.`
  const about = (
    <>
      <span className="mono">{start}…</span> {used}
    </>
  )
  return { name, about }
}
