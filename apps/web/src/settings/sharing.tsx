import { useMutation, useQuery } from '@tanstack/react-query'
import { type FormEvent, useId, useRef, useState } from 'react'
import { useGarner } from '../garner.ts'
import { explained } from '../http/failure.ts'
import type { CreatedShare, CreateShare, Share } from '../meals/contract.ts'
import { useNow } from '../ui/countdown.tsx'
import { Icon } from '../ui/icon.tsx'
import { Switch } from '../ui/switch.tsx'
import { date, onDay } from '../words/calendar.ts'
import { count } from '../words/count.ts'
import { dayAndLongMonth } from '../words/local-day.ts'
import { Problem, Section } from './section.tsx'

const DAY_MS = 86_400_000

/** Read-only links to one's meals. The link is shown once: only its hash is kept. */
export function Sharing() {
  const { meals, queries } = useGarner()
  const shares = useQuery({ queryKey: ['shares'], queryFn: () => meals.shares() })
  const [isMaking, setIsMaking] = useState(false)
  const [made, setMade] = useState<CreatedShare | null>(null)
  const stop = useMutation({
    mutationFn: (share: Share) => meals.stopShare(share.id),
    onSuccess: (_, share) => setMade((shown) => (shown?.id === share.id ? null : shown)),
    onSettled: () => queries.invalidateQueries({ queryKey: ['shares'] }),
  })
  return (
    <Section
      id="sharing"
      title="Sharing"
      about="A read-only link to your meals, for a dietician or a doctor. They need no account. You can stop it at any moment."
      action={
        <button
          type="button"
          className="btn tight"
          aria-expanded={isMaking}
          onClick={() => setIsMaking(!isMaking)}
        >
          <Icon name="plus" />
          New link
        </button>
      }
    >
      {isMaking && (
        <NewShare
          onMade={(share) => {
            setMade(share)
            setIsMaking(false)
          }}
        />
      )}
      {made && <Once share={made} />}
      <Problem words={shares.error ? explained(shares.error) : stop.error ? explained(stop.error) : null} />
      {shares.data?.length === 0 && !made && <p className="quiet small">No links yet.</p>}
      <ul className="things">
        {shares.data?.map((share) => (
          <ShareRow key={share.id} share={share} onStop={() => stop.mutate(share)} />
        ))}
      </ul>
    </Section>
  )
}

function NewShare({ onMade }: { onMade(share: CreatedShare): void }) {
  const { meals, browser, queries } = useGarner()
  const id = useId()
  const [name, setName] = useState('')
  const [days, setDays] = useState('30')
  const [from, setFrom] = useState('')
  const [withPhotos, setWithPhotos] = useState(true)
  const key = useRef({ of: '', id: '', body: null as CreateShare | null })
  const make = useMutation({
    mutationFn: () => {
      const of = JSON.stringify([name, days, from, withPhotos])
      // The same wish again is the same request, to the millisecond of its end.
      if (key.current.of !== of || key.current.body === null) {
        const expiresAt = new Date(browser.clock.nowMs() + Number(days) * DAY_MS).toISOString()
        const body: CreateShare = {
          name: name.trim(),
          from: from === '' ? null : from,
          expires_at: expiresAt,
          photos: withPhotos,
        }
        key.current = { of, id: browser.newId(), body }
      }
      return meals.share(key.current.body!, key.current.id)
    },
    onSuccess: onMade,
    onSettled: () => queries.invalidateQueries({ queryKey: ['shares'] }),
  })
  return (
    <form
      className="goal-form"
      onSubmit={(event: FormEvent) => {
        event.preventDefault()
        if (!make.isPending) make.mutate()
      }}
    >
      <div className="cols three">
        <div className="field">
          <label htmlFor={`${id}-who`}>For whom</label>
          <input
            id={`${id}-who`}
            className="input"
            dir="auto"
            maxLength={200}
            autoComplete="off"
            placeholder="Only you see this"
            // biome-ignore lint/a11y/noAutofocus: the field was opened to be written in
            autoFocus
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
        </div>
        <div className="field">
          <label htmlFor={`${id}-from`}>First day shown</label>
          <input
            id={`${id}-from`}
            className="input"
            type="date"
            value={from}
            onChange={(event) => setFrom(event.target.value)}
          />
        </div>
        <div className="field">
          <label htmlFor={`${id}-end`}>Ends</label>
          <select
            id={`${id}-end`}
            className="input"
            value={days}
            onChange={(event) => setDays(event.target.value)}
          >
            {['7', '30', '90'].map((one) => (
              <option key={one} value={one}>
                in {one} days
              </option>
            ))}
          </select>
        </div>
      </div>
      <Switch label="With photos" on={withPhotos} onChange={setWithPhotos} />
      <Problem words={make.error ? explained(make.error) : null} />
      <div className="buttons">
        <button type="submit" className="btn primary">
          Make the link
        </button>
      </div>
    </form>
  )
}

function Once({ share }: { share: CreatedShare }) {
  const { notice } = useGarner()
  const link = new URL(share.path, location.origin).href
  return (
    <div role="status">
      <p className="small">
        <strong>Copy it now: it is shown once.</strong>
      </p>
      <div className="once">
        <code>{link}</code>
        <button
          type="button"
          className="btn tight primary"
          onClick={() =>
            navigator.clipboard?.writeText(link).then(
              () => notice.show('Link copied'),
              () => notice.show('The browser did not allow copying. Select it by hand.'),
            )
          }
        >
          <Icon name="copy" />
          Copy link
        </button>
      </div>
    </div>
  )
}

function ShareRow({ share, onStop }: { share: Share; onStop(): void }) {
  const nowMs = useNow(60_000)
  const name = share.name || 'A link'
  const isOver = Date.parse(share.expires_at) <= nowMs
  const what = share.photos ? 'Meals and photos' : 'Meals without photos'
  const since = share.from === null ? '' : ` from ${dayAndLongMonth(share.from)}`
  const ends = `${isOver ? 'Ended' : 'Ends'} ${date(Date.parse(share.expires_at), { nowMs })}.`
  const opened =
    share.views === 0 || share.last_view_at === null
      ? 'Not opened yet.'
      : `Opened ${count(share.views, 'time', 'times')}, last ${onDay(Date.parse(share.last_view_at), { nowMs })}.`
  return (
    <li>
      <Icon name="share" />
      <div>
        <strong>
          <bdi>{name}</bdi>
        </strong>
        <p>{`${what}${since}. ${ends} ${opened}`}</p>
      </div>
      <div className="buttons">
        <button type="button" className="btn tight danger" aria-label={`Stop ${name}`} onClick={onStop}>
          Stop
        </button>
      </div>
    </li>
  )
}
