import type { Bookmark } from '@garner/server/api'
import { type FormEvent, type KeyboardEvent, useEffect, useId, useRef, useState } from 'react'
import { useGarner } from '../garner.ts'
import { useStore } from '../store.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Icon } from '../ui/icon.tsx'
import { linkIn } from '../words/link.ts'
import { type EditField, useReading } from './context.tsx'
import { changesIn, type Draft, draftOf } from './drafts.ts'
import { BAD_LINK } from './use-save.ts'

/** Note, title and link of one row. Closed without saving, what was typed is still there the next time. */
export function EditSheet(props: { item: Bookmark; field: EditField; onClose(): void }) {
  const { item, field, onClose } = props
  const { drafts } = useGarner()
  const { links } = useReading()
  const kept = useStore(drafts.all)[item.id]
  const draft = kept ?? draftOf(item)
  const id = useId()
  const form = useRef<HTMLFormElement>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const [saving, setSaving] = useState(false)
  const badLink = linkIn(draft.url) === null

  useEffect(() => {
    form.current?.querySelector<HTMLElement>(`[name="${field}"]`)?.focus()
  }, [field])

  const change = (part: Partial<Draft>) => {
    setProblem(null)
    const next = { ...draft, ...part }
    drafts.set(item.id, changesIn(next, item) ? next : null)
  }
  const save = async (event?: FormEvent) => {
    event?.preventDefault()
    if (badLink) return setProblem(BAD_LINK)
    setSaving(true)
    const result = await links.saveDraft(item, draft)
    setSaving(false)
    // A conflict is settled in the row, where both versions have room.
    if (result.problem) setProblem(result.problem)
    else onClose()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void save()
  }

  return (
    <Dialog title="Edit" onClose={onClose}>
      <form ref={form} className="fields" onSubmit={save} onKeyDown={onKeyDown} noValidate>
        <p className="field">
          <label htmlFor={`${id}-note`}>Note for everyone</label>
          <textarea
            id={`${id}-note`}
            name="note"
            className="input"
            dir="auto"
            rows={4}
            maxLength={2000}
            placeholder="Why is it worth reading?"
            value={draft.note}
            onChange={(event) => change({ note: event.target.value })}
          />
        </p>
        <div className="field">
          <label htmlFor={`${id}-title`}>Title</label>
          <input
            id={`${id}-title`}
            name="title"
            className="input"
            dir="auto"
            maxLength={2000}
            placeholder={item.title ?? 'Write one yourself'}
            aria-describedby={`${id}-title-hint`}
            value={draft.title}
            onChange={(event) => change({ title: event.target.value })}
          />
          <span className="hint" id={`${id}-title-hint`}>
            What you write stays, whatever the site says later. Empty: the site’s own title.
          </span>
        </div>
        <p className="field">
          <label htmlFor={`${id}-url`}>Link</label>
          <input
            id={`${id}-url`}
            name="url"
            className="input"
            dir="ltr"
            inputMode="url"
            autoCapitalize="none"
            spellCheck={false}
            aria-invalid={badLink || undefined}
            value={draft.url}
            onChange={(event) => change({ url: event.target.value })}
          />
        </p>
        {problem && (
          <p className="error" role="alert">
            <Icon name="alert" />
            {problem}
          </p>
        )}
        <div className="buttons">
          <button type="submit" className="btn primary" aria-disabled={saving || undefined}>
            Save
          </button>
          <button
            type="button"
            className="btn quiet"
            onClick={() => {
              drafts.set(item.id, null)
              onClose()
            }}
          >
            Discard changes
          </button>
          <span className="hint only-wide">
            <kbd>Ctrl</kbd> <kbd>Enter</kbd> saves
          </span>
        </div>
      </form>
    </Dialog>
  )
}
