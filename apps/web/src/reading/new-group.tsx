import { useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { useGarner } from '../garner.ts'
import { explained } from '../http/failure.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Icon } from '../ui/icon.tsx'
import { go } from '../ui/location.tsx'

export function NewGroup({ onClose }: { onClose(): void }) {
  const { api, browser } = useGarner()
  const queries = useQueryClient()
  const [name, setName] = useState('')
  const [problem, setProblem] = useState<string | null>(null)
  // One key per name: pressing twice makes one group.
  const key = useRef({ name: '', id: '' })
  const create = async () => {
    const wanted = name.trim()
    if (wanted === '') return
    if (key.current.name !== wanted) key.current = { name: wanted, id: browser.newId() }
    try {
      const group = await api.createGroup(wanted, key.current.id)
      await queries.invalidateQueries({ queryKey: ['groups'] })
      onClose()
      go(`/reading/${encodeURIComponent(group.id)}`)
    } catch (error) {
      setProblem(explained(error))
    }
  }
  return (
    <Dialog title="New group" kind="small" onClose={onClose}>
      <form
        className="fields"
        onSubmit={(event) => {
          event.preventDefault()
          void create()
        }}
      >
        <div className="field">
          <label htmlFor="group-name">Name</label>
          <input
            id="group-name"
            className="input"
            dir="auto"
            required
            maxLength={80}
            placeholder="Family, study group, just me"
            autoFocus
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
          <span className="hint">You can add people in Settings, Groups.</span>
        </div>
        {problem && (
          <p className="error" role="alert">
            <Icon name="alert" />
            {problem}
          </p>
        )}
        <div className="buttons">
          <button type="submit" className="btn primary">
            Make the group
          </button>
        </div>
      </form>
    </Dialog>
  )
}
