import type { SaveBookmark, SavedBookmark } from '@garner/server/api'
import { useRef, useState } from 'react'
import { useGarner } from '../garner.ts'
import { failureOf } from '../http/failure.ts'
import { retryDelayMs } from '../http/retry.ts'
import { useAt } from '../ui/countdown.tsx'
import { linkIn } from '../words/link.ts'

export const BAD_LINK = 'That is not a link Garner can open. It must start with http or https.'

/** A link that the server had no room or no time for: it stays in the box and goes up again at `untilMs`. */
export interface Held {
  reason: 'full' | 'busy'
  untilMs: number
}

interface Pending {
  link: SaveBookmark & { group: string }
  key: string
}

/**
 * The save box. One link at a time, under one idempotency key until it is stored or changed, so that no resend can
 * save it twice. Refused for now: it stays in the box and goes by itself. Nobody there: it moves to the outbox.
 */
export function useSave(group: string, onSaved: (saved: SavedBookmark) => void) {
  const { api, browser, notice, online, outbox } = useGarner()
  const [text, setText] = useState('')
  const [note, setNote] = useState('')
  const [problem, setProblem] = useState<string | null>(null)
  const [held, setHeld] = useState<Held | null>(null)
  const [sending, setSending] = useState(false)
  const pending = useRef<Pending | null>(null)
  const refusals = useRef(0)
  const next = useRef<string[]>([])

  const clear = () => {
    pending.current = null
    refusals.current = 0
    setText('')
    setNote('')
    setProblem(null)
    setHeld(null)
  }

  const keepHere = (one: Pending) => {
    const { url, note: words = '', group: to, force = false } = one.link
    outbox.keep({ key: one.key, url, note: words, group: to, force })
    notice.say('No answer: the link is kept here and goes up later.')
    clear()
  }

  const send = async (one: Pending): Promise<void> => {
    if (!navigator.onLine) return keepHere(one)
    setSending(true)
    setHeld(null)
    setProblem(null)
    try {
      const saved = await api.save(one.link, one.key)
      online.set(true)
      // Still this link? Then the box is free for the next one.
      if (pending.current?.key === one.key) clear()
      onSaved(saved)
    } catch (error) {
      const failure = failureOf(error)
      if (failure.isUnreachable) keepHere(one)
      else if (failure.isBusy) {
        refusals.current += 1
        const { retryAfterMs, status } = failure
        const wait = retryDelayMs({ failures: refusals.current, retryAfterMs, random: browser.random() })
        setHeld({ reason: status === 429 ? 'full' : 'busy', untilMs: browser.clock.nowMs() + wait })
        notice.say('Not saved yet. The link stays in the box.')
      } else setProblem(failure.detail || BAD_LINK)
    } finally {
      setSending(false)
    }
  }

  const submit = (words: string, more: { note?: string; force?: boolean } = {}) => {
    const url = linkIn(words)
    if (url === null) {
      setProblem(words.trim() === '' ? null : BAD_LINK)
      return
    }
    const comment = more.note?.trim() ?? ''
    const link = { url, group, ...(comment ? { note: comment } : {}), ...(more.force ? { force: true } : {}) }
    const before = pending.current
    const same = before && JSON.stringify(before.link) === JSON.stringify(link)
    const one: Pending = same ? before : { link, key: browser.newId() }
    pending.current = one
    if (!same) refusals.current = 0
    void send(one).then(() => {
      const waiting = pending.current === null ? next.current.shift() : undefined
      if (waiting !== undefined) submitText(waiting)
    })
  }

  /** A link that was pasted anywhere, or is saved a second time on purpose. */
  const submitText = (words: string, force = false) => {
    // One at a time: what is in the box, or on its way, comes first.
    if (pending.current !== null && linkIn(words) !== pending.current.link.url) {
      next.current.push(words)
      return
    }
    setText(words.trim())
    setNote('')
    submit(words, { force })
  }

  useAt(sending ? null : (held?.untilMs ?? null), () => {
    if (pending.current) void send(pending.current)
  })

  return {
    text,
    note,
    problem,
    held,
    sending,
    isLink: linkIn(text) !== null,
    change(words: string) {
      setText(words)
      setProblem(null)
      if (pending.current && linkIn(words) !== pending.current.link.url) {
        pending.current = null
        setHeld(null)
      }
    },
    changeNote: setNote,
    submit: () => submit(text, { note }),
    submitText,
    tryNow() {
      if (pending.current) void send(pending.current)
    },
  }
}

export type SaveBoxState = ReturnType<typeof useSave>
