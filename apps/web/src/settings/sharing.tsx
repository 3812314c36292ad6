import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useId, useRef, useState } from 'react'
import { useGarner } from '../garner.ts'
import { explained } from '../http/failure.ts'
import type { CreatedShare, CreateShare, Share } from '../meals/contract.ts'
import { useNow } from '../ui/countdown.tsx'
import { Switch } from '../ui/switch.tsx'
import { date, onDay } from '../words/calendar.ts'
import { count } from '../words/count.ts'
import { dayAndLongMonth } from '../words/local-day.ts'
import { MadeThings, type ThingWords } from './made-things.tsx'
import { Problem } from './section.tsx'

const DAY_MS = 86_400_000

/** Read-only links to one's meals. */
export function Sharing() {
  const { meals } = useGarner()
  const nowMs = useNow(60_000)
  return (
    <MadeThings<Share, CreatedShare>
      id="sharing"
      title="Sharing"
      about="A read-only link to your meals, for a dietician or a doctor. They need no account. You can stop it at any moment."
      what="link"
      icon="share"
      end="Stop"
      list={() => meals.shares()}
      onEnd={(share) => meals.stopShare(share.id)}
      form={(onMade) => <NewShare onMade={onMade} />}
      secretOf={(share) => new URL(share.path, location.origin).href}
      copy="Copy link"
      wordsOf={(share) => shareWords(share, nowMs)}
    />
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
    // Also after a failure: it may have been made, and only its answer lost.
    onSettled: () => queries.invalidateQueries({ queryKey: ['sharing'] }),
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

function shareWords(share: Share, nowMs: number): ThingWords {
  const endsAtMs = Date.parse(share.expires_at)
  const what = share.photos ? 'Meals and photos' : 'Meals without photos'
  const since = share.from === null ? '' : ` from ${dayAndLongMonth(share.from)}`
  const ends = `${endsAtMs <= nowMs ? 'Ended' : 'Ends'} ${date(endsAtMs, { nowMs })}.`
  const opened =
    share.views === 0 || share.last_view_at === null
      ? 'Not opened yet.'
      : `Opened ${count(share.views, 'time', 'times')}, last ${onDay(Date.parse(share.last_view_at), { nowMs })}.`
  return { name: share.name || 'A link', about: `${what}${since}. ${ends} ${opened}` }
}
