import { type ChangeEvent, type DragEvent, useState } from 'react'
import { Icon } from '../../ui/icon.tsx'

/** Drop them, choose them, or take one now. */
export function Drop({ onFiles }: { onFiles(files: File[]): void }) {
  const [isOver, setIsOver] = useState(false)
  const onChange = (event: ChangeEvent<HTMLInputElement>) => {
    const files = [...(event.target.files ?? [])]
    // The same photo may be chosen again after it was left out.
    event.target.value = ''
    if (files.length > 0) onFiles(files)
  }
  const onDrop = (event: DragEvent) => {
    event.preventDefault()
    setIsOver(false)
    const files = [...event.dataTransfer.files]
    if (files.length > 0) onFiles(files)
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: dropping is an extra; the button beside it does the same
    <div
      className={`drop ${isOver ? 'over' : ''}`}
      onDragOver={(event) => {
        event.preventDefault()
        setIsOver(true)
      }}
      onDragLeave={() => setIsOver(false)}
      onDrop={onDrop}
    >
      <Icon name="camera" />
      <span className="wide">Drop photos here, or</span>
      <label className="btn tight">
        Choose photos
        <input
          className="visually-hidden"
          type="file"
          accept="image/*,.heic,.heif,.avif"
          multiple
          data-first
          onChange={onChange}
        />
      </label>
      <label className="btn tight narrow">
        Take one
        <input
          className="visually-hidden"
          type="file"
          accept="image/*"
          capture="environment"
          onChange={onChange}
        />
      </label>
      <span className="xs quiet">
        JPEG, HEIC, PNG or WebP, up to 25 MB each. The place a photo was taken never leaves it.
      </span>
    </div>
  )
}
