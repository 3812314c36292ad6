import type { ApiToken, CreatedApiToken } from '@garner/server/api'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useId, useRef, useState } from 'react'
import { useGarner } from '../garner.ts'
import { explained } from '../http/failure.ts'
import { useNow } from '../ui/countdown.tsx'
import { Icon } from '../ui/icon.tsx'
import { onDay } from '../words/calendar.ts'
import { Problem, Section } from './section.tsx'

export function Tokens() {
  const { api, queries } = useGarner()
  const tokens = useQuery({ queryKey: ['tokens'], queryFn: () => api.tokens() })
  const [isMaking, setIsMaking] = useState(false)
  const [made, setMade] = useState<CreatedApiToken | null>(null)
  const revoke = useMutation({
    mutationFn: (token: ApiToken) => api.revokeToken(token.id),
    onSuccess: (_, token) => setMade((shown) => (shown?.id === token.id ? null : shown)),
    onSettled: () => queries.invalidateQueries({ queryKey: ['tokens'] }),
  })
  return (
    <Section
      id="tokens"
      title="API tokens"
      about="For scripts and shortcuts that save links as you. Whoever has one can do what you can."
      action={
        <button
          type="button"
          className="btn tight"
          aria-expanded={isMaking}
          onClick={() => setIsMaking(!isMaking)}
        >
          <Icon name="plus" />
          New token
        </button>
      }
    >
      {isMaking && (
        <NewToken
          onMade={(token) => {
            setMade(token)
            setIsMaking(false)
          }}
        />
      )}
      {made && <Once token={made} />}
      <Problem
        words={tokens.error ? explained(tokens.error) : revoke.error ? explained(revoke.error) : null}
      />
      {tokens.data?.length === 0 && !made && <p className="quiet small">No tokens yet.</p>}
      <ul className="things">
        {tokens.data?.map((token) => (
          <TokenRow key={token.id} token={token} onRevoke={() => revoke.mutate(token)} />
        ))}
      </ul>
    </Section>
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

function Once({ token }: { token: CreatedApiToken }) {
  const { notice } = useGarner()
  return (
    <div role="status">
      <p className="small">
        <strong>Copy it now: it is shown once.</strong>
      </p>
      <div className="once">
        <code>{token.token}</code>
        <button
          type="button"
          className="btn tight primary"
          onClick={() =>
            navigator.clipboard?.writeText(token.token).then(
              () => notice.show('Token copied'),
              () => notice.show('The browser did not allow copying. Select it by hand.'),
            )
          }
        >
          <Icon name="copy" />
          Copy
        </button>
      </div>
    </div>
  )
}

function TokenRow({ token, onRevoke }: { token: ApiToken; onRevoke(): void }) {
  const nowMs = useNow(60_000)
  return (
    <li>
      <Icon name="key" />
      <div>
        <strong>
          <bdi>{token.name}</bdi>
        </strong>
        <p>
          <span className="mono">{token.start}…</span>{' '}
          {token.last_used_at === null
            ? 'Never used.'
            : `Last used ${onDay(Date.parse(token.last_used_at), { nowMs })}.`}
        </p>
      </div>
      <div className="buttons">
        <button
          type="button"
          className="btn tight danger"
          aria-label={`Revoke ${token.name}`}
          onClick={onRevoke}
        >
          Revoke
        </button>
      </div>
    </li>
  )
}
