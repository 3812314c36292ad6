import { useState } from 'react'
import { useGarner } from '../../garner.ts'
import { useNow } from '../../ui/countdown.tsx'
import { Icon, type IconName } from '../../ui/icon.tsx'
import { Link } from '../../ui/location.tsx'
import { shortDay, timeOf, todayOf } from '../../words/local-day.ts'
import { useDiary } from '../context.tsx'
import { DiscardPhotos } from '../discard-photos.tsx'
import { mealsPath } from '../place.ts'
import type { Fate } from './live-row.ts'
import { canForce, doubtOf, hasWhen, isAsking, isEditable, isUnsent, type Row } from './row.ts'
import { fileDateWords, percent, rowWords } from './row-words.ts'
import type { Part } from './tally.ts'
import { WhenFields } from './when-fields.tsx'

/** One photo of the batch. It keeps its place whatever becomes of it. */
export function BatchRow(props: {
  row: Row
  fate: Fate | null
  part: Part
  pending: number
  onLeft(): void
}) {
  const { row, fate, part } = props
  const { today, unit } = useDiary()
  const nowMs = useNow(row.upload.is === 'paused' ? 1_000 : 60_000)
  const words = rowWords(row, fate, { today, unit, pending: props.pending, nowMs })
  const tone = toneOf(row, fate, part)
  const band = part === 'question' ? 'ask' : part === 'undone' ? 'fail' : ''
  return (
    <li className={`up ${band}`} data-part={part}>
      <Thumb row={row} />
      <div className="facts">
        {isEditable(row) ? (
          <WhenFields row={row} />
        ) : (
          <span className="when said num">
            {hasWhen(row) ? `${shortDay(row.when.date, today)}, ${row.when.time}` : 'No time yet'}
          </span>
        )}
        <span className="file" dir="auto">
          {row.file.name}
        </span>
      </div>
      <div className="how">
        <p className={`state ${tone}`}>
          <Icon name={iconOf(row, fate)} />
          <span>
            <strong className="num">{words.strong}</strong> {words.rest}
          </span>
        </p>
        <Progress row={row} fate={fate} />
        {isAsking(row) && <Offers row={row} />}
      </div>
      <div className="act">
        <Action row={row} fate={fate} onLeft={props.onLeft} />
      </div>
    </li>
  )
}

function Thumb({ row }: { row: Row }) {
  const [isBroken, setIsBroken] = useState(false)
  if (row.preview === null || isBroken) {
    const isBad = row.upload.is === 'failed' && row.upload.why.kind !== 'dropped'
    return (
      <span className="thumb none">
        <Icon name={isBad ? 'alert' : 'camera'} />
      </span>
    )
  }
  return (
    <img
      className="thumb"
      src={row.preview}
      alt=""
      width="72"
      height="54"
      loading="lazy"
      decoding="async"
      onError={() => setIsBroken(true)}
    />
  )
}

function Progress({ row, fate }: { row: Row; fate: Fate | null }) {
  if (row.upload.is === 'uploading') {
    const done = percent(row.upload.sent, row.file.size)
    return (
      <span
        className="bar"
        role="progressbar"
        aria-label={`Uploading ${row.file.name}`}
        aria-valuenow={done}
        aria-valuemin={0}
        aria-valuemax={100}
      >
        <i style={{ inlineSize: `${done}%` }} />
      </span>
    )
  }
  const isComing = fate?.is === 'queued' || fate?.is === 'describing' || fate?.is === 'retrying'
  if (!isComing) return null
  return (
    <span className="bar" aria-hidden="true">
      <i className="hatch" style={{ inlineSize: '100%' }} />
    </span>
  )
}

/** Answers to "When was it?": offered, never assumed. */
function Offers({ row }: { row: Row }) {
  const { batch, browser } = useGarner()
  const { fileTime, taken } = row.found
  const isDoubted = doubtOf(row) !== null
  return (
    <p className="chips">
      {isDoubted && taken?.time && (
        <button
          type="button"
          className="btn tight"
          onClick={() => batch.setWhen(row.id, { date: taken.date, time: taken.time ?? '' }, 'typed')}
        >
          {fileDateWords({ date: taken.date, time: taken.time }).replace('File date', 'File name')}
        </button>
      )}
      {fileTime && (
        <button type="button" className="btn tight" onClick={() => batch.setWhen(row.id, fileTime, 'file')}>
          {fileDateWords(fileTime)}
        </button>
      )}
      <button
        type="button"
        className="btn tight"
        onClick={() => {
          const nowMs = browser.clock.nowMs()
          batch.setWhen(row.id, { date: todayOf(nowMs), time: timeOf(nowMs) }, 'now')
        }}
      >
        Now
      </button>
    </p>
  )
}

function Action({ row, fate, onLeft }: { row: Row; fate: Fate | null; onLeft(): void }) {
  const { batch } = useGarner()
  const { acts } = useDiary()
  const [isDiscarding, setIsDiscarding] = useState(false)
  const { upload, file } = row
  const name = file.name
  if (fate?.is === 'logged' && upload.is === 'uploaded') {
    const id = fate.meal?.id ?? upload.entryId
    return (
      <Link
        className="btn tight quiet"
        to={mealsPath(fate.meal?.date ?? row.when.date, { is: 'meal', id })}
        label={`Open ${name}`}
        over
      >
        Open
      </Link>
    )
  }
  if (fate?.is === 'placeholder' && upload.is === 'uploaded') {
    return (
      <button
        type="button"
        className="btn tight soft"
        aria-label={`Estimate now: ${name}`}
        onClick={() => void acts.estimate({ id: fate.meal?.id ?? upload.entryId })}
      >
        Estimate now
      </button>
    )
  }
  if (fate?.is === 'dead' && upload.is === 'uploaded') {
    return (
      <>
        <button
          type="button"
          className="btn tight soft"
          aria-label={`Try again: ${name}`}
          onClick={() => void acts.retryEntry(upload.entryId)}
        >
          <Icon name="retry" />
          Try again
        </button>
        <button
          type="button"
          className="btn tight quiet"
          aria-label={`Discard ${name}`}
          onClick={() => setIsDiscarding(true)}
        >
          Discard
        </button>
        {isDiscarding && (
          <DiscardPhotos ids={[upload.entryId]} onClose={() => setIsDiscarding(false)} onGone={onLeft} />
        )}
      </>
    )
  }
  if (canForce(row)) {
    return (
      <button
        type="button"
        className="btn tight soft"
        aria-label={`Log it anyway: ${name}`}
        onClick={() => batch.logAnyway(row.id)}
      >
        Log it anyway
      </button>
    )
  }
  const leaveOut = (
    <button
      type="button"
      className="btn tight quiet"
      aria-label={`Leave out ${name}`}
      onClick={() => {
        batch.leaveOut(row.id)
        onLeft()
      }}
    >
      Leave out
    </button>
  )
  if (upload.is === 'failed' && (upload.why.kind === 'dropped' || upload.why.kind === 'refused')) {
    return (
      <>
        <button
          type="button"
          className="btn tight soft"
          aria-label={`Try again: ${name}`}
          onClick={() => batch.tryAgain([row.id])}
        >
          <Icon name="retry" />
          Try again
        </button>
        {upload.why.kind === 'refused' && leaveOut}
      </>
    )
  }
  if (upload.is === 'duplicate' || upload.is === 'failed' || (isUnsent(row) && upload.is !== 'uploading'))
    return leaveOut
  return null
}

function toneOf(row: Row, fate: Fate | null, part: Part): string {
  if (fate) {
    if (fate.is === 'logged') return 'ok'
    if (fate.is === 'placeholder') return ''
    return fate.is === 'dead' || fate.is === 'discarded' ? 'bad' : 'accent'
  }
  if (row.upload.is === 'duplicate' || row.upload.is === 'paused' || part === 'question') return 'warn'
  if (row.upload.is === 'failed') return 'bad'
  return row.upload.is === 'uploading' ? 'accent' : ''
}

function iconOf(row: Row, fate: Fate | null): IconName {
  switch (fate?.is) {
    case 'queued':
    case 'retrying':
      return 'safe'
    case 'describing':
      return 'gauge'
    case 'logged':
    case 'placeholder':
      return 'check'
    case 'dead':
    case 'discarded':
      return 'alert'
  }
  switch (row.upload.is) {
    case 'uploading':
      return 'upload'
    case 'duplicate':
      return 'copy'
    case 'failed':
      return row.upload.why.kind === 'dropped' ? 'offline' : 'alert'
    default:
      return isAsking(row) ? 'calendar' : 'clock'
  }
}
