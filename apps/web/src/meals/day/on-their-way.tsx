import { useState } from 'react'
import { useGarner } from '../../garner.ts'
import { useStore } from '../../store.ts'
import { Icon } from '../../ui/icon.tsx'
import { go } from '../../ui/location.tsx'
import { count } from '../../words/count.ts'
import { useDiary } from '../context.tsx'
import type { Pending, PendingEntry } from '../contract.ts'
import { DiscardPhotos } from '../discard-photos.tsx'
import { Photo } from '../photo.tsx'
import { mealsPath } from '../place.ts'

/** More thumbnails than this say nothing more. */
const SHOWN_MAX = 4

/** Photos between the pick and the meal, whichever day they belong to; nothing at all when there are none. */
export function OnTheirWay({ pending, onShow }: { pending: Pending | undefined; onShow(): void }) {
  const { batch } = useGarner()
  const { rows } = useStore(batch.state)
  const unsent = rows.length > 0 ? batch.unsent : 0
  const entries = pending?.entries ?? []
  const dead = pending?.finished.filter((entry) => entry.state === 'dead') ?? []
  const onTheWay = entries.length + unsent
  if (onTheWay === 0 && dead.length === 0) return null
  const show = () => {
    const first = entries[0]
    if (rows.length > 0 || !first) onShow()
    else go(mealsPath(first.date))
  }
  return (
    <section className="card pad way" aria-labelledby="way">
      <div className="head-row">
        <h2 id="way">
          {onTheWay > 0
            ? count(onTheWay, 'photo on its way', 'photos on their way')
            : 'Not everything was saved'}
        </h2>
        {onTheWay > 0 && (
          <button type="button" className="btn tight quiet" onClick={show}>
            Show
          </button>
        )}
      </div>
      {entries.length > 0 && (
        <p className="thumbs">
          {entries.slice(0, SHOWN_MAX).map((entry) => (
            <Photo
              key={entry.id}
              url={photoOf(entry)}
              alt={entry.state === 'describing' ? 'Being described' : 'Queued'}
              className={entry.state === 'describing' ? '' : 'dim'}
              width={52}
              height={39}
            />
          ))}
        </p>
      )}
      {onTheWay > 0 &&
        (unsent > 0 ? (
          <p className="state warn">
            <Icon name="upload" />
            {count(unsent, 'photo is', 'photos are')} still to upload. Keep this page open.
          </p>
        ) : (
          <p className="state accent">
            <Icon name="safe" />
            All uploaded. Safe to close.
          </p>
        ))}
      {dead.length > 0 && <Dead ids={dead.map((entry) => entry.id)} />}
    </section>
  )
}

/** What could not be saved stands here until it is dealt with, however long ago it was sent. */
function Dead({ ids }: { ids: readonly string[] }) {
  const { acts } = useDiary()
  const [isDiscarding, setIsDiscarding] = useState(false)
  return (
    <div className="dead">
      <p className="thumbs">
        {ids.slice(0, SHOWN_MAX).map((id) => (
          <Photo key={id} url={photoOf({ id })} alt="Could not be saved" width={52} height={39} />
        ))}
      </p>
      <p className="state bad">
        <Icon name="alert" />
        <span>
          {ids.length === 1
            ? 'A photo could not be saved in 6 tries. It and its estimate are kept.'
            : `${ids.length} photos could not be saved in 6 tries. They and their estimates are kept.`}
        </span>
      </p>
      <div className="buttons">
        <button
          type="button"
          className="btn tight soft"
          onClick={() => void Promise.all(ids.map((id) => acts.retryEntry(id)))}
        >
          <Icon name="retry" />
          Try again
        </button>
        <button type="button" className="btn tight quiet" onClick={() => setIsDiscarding(true)}>
          Discard
        </button>
      </div>
      {isDiscarding && <DiscardPhotos ids={ids} onClose={() => setIsDiscarding(false)} />}
    </div>
  )
}

/** A photo has its meal's address before it has its meal. */
export function photoOf(entry: Pick<PendingEntry, 'id'>): string {
  return `/api/photos/${encodeURIComponent(entry.id)}`
}
