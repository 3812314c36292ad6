import { type ChangeEvent, useState } from 'react'
import { Icon } from '../../ui/icon.tsx'

/** Choose photos, or take one now. What is dropped here is taken as everywhere on the page (use-brought.ts). */
export function Drop({ onFiles }: { onFiles(files: File[]): void }) {
  const [isOver, setIsOver] = useState(false)
  const onChange = (event: ChangeEvent<HTMLInputElement>) => {
    const files = [...(event.target.files ?? [])]
    // The same photo may be chosen again after it was left out.
    event.target.value = ''
    if (files.length > 0) onFiles(files)
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only shows that it is hovered; the button beside it does the same
    <div
      className={`drop ${isOver ? 'over' : ''}`}
      onDragOver={() => setIsOver(true)}
      onDragLeave={() => setIsOver(false)}
      onDrop={() => setIsOver(false)}
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
