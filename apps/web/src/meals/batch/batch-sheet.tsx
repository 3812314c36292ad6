import { useId, useRef, useState } from 'react'
import { useGarner } from '../../garner.ts'
import { useStore } from '../../store.ts'
import { Banner } from '../../ui/banner.tsx'
import { Countdown } from '../../ui/countdown.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Sheet } from '../../ui/sheet.tsx'
import { count } from '../../words/count.ts'
import { useDiary } from '../context.tsx'
import type { Pending } from '../contract.ts'
import { leftOf } from '../day/allowance.ts'
import { mealIn, useAllowance } from '../queries.ts'
import { BatchRow } from './batch-row.tsx'
import { Drop } from './drop.tsx'
import { fateOf } from './live-row.ts'
import { isDropped, isToUpload, isUnsent } from './row.ts'
import { shiftable } from './rows.ts'
import { Shift } from './shift.tsx'
import { headline, needsYou, partOf, tallyOf } from './tally.ts'
import { TallyMeter } from './tally-meter.tsx'
import { useMealsOf } from './use-batch-news.ts'

/** Add photos: from the picking until the last one is up, and what became of each. Closing it stops nothing. */
export function BatchSheet({ pending, onClose }: { pending: Pending | undefined; onClose(): void }) {
  const { batch, queries } = useGarner()
  const { rows, reading, isGoing, pausedUntilMs } = useStore(batch.state)
  const [onlyMine, setOnlyMine] = useState(false)
  const list = useRef<HTMLUListElement>(null)
  const heading = useId()
  const { goals } = useDiary()
  useMealsOf(rows, pending, goals.start_of_day)

  const seen = rows.map((row) => {
    const fate = fateOf(row, pending, (id) => mealIn(queries, id))
    return { row, fate, part: partOf(row, fate) }
  })
  const tally = tallyOf(seen.map(({ part }) => part))
  const shown = onlyMine && tally.needYou > 0 ? seen.filter(({ part }) => needsYou(part)) : seen
  const unsent = rows.filter(isUnsent).length
  const isAllUp = rows.length > 0 && unsent === 0 && reading === 0
  const dropped = seen.filter(({ row }) => isDropped(row))
  const failed = rows.filter((row) => row.upload.is === 'failed').length
  const ready = tally.todo
  const isUploading = seen.some(({ part }) => part === 'uploading')

  return (
    <Sheet kind="batch" titleId={heading} onClose={onClose}>
      <header className="sheet-head">
        <h2 id={heading} tabIndex={-1}>
          Add photos
        </h2>
        <button type="button" className="icon-btn" aria-label="Close" onClick={onClose}>
          <Icon name="x" />
        </button>
      </header>
      <div className="top">
        <Drop onFiles={(files) => void batch.pick(files)} />
        <p role="status" className={reading > 0 ? 'state' : 'visually-hidden'}>
          {reading > 0 && `Reading the time of ${count(reading, 'photo', 'photos')}…`}
        </p>
        {rows.length > 0 && (
          <>
            <div className="progress">
              <div className="head-row">
                <strong>{headline(tally)}</strong>
                {/* biome-ignore lint/a11y/useSemanticElements: a row of buttons, exactly one pressed */}
                <div className="seg" role="group" aria-label="Show">
                  <button type="button" aria-pressed={!onlyMine} onClick={() => setOnlyMine(false)}>
                    All {tally.all}
                  </button>
                  <button type="button" aria-pressed={onlyMine} onClick={() => setOnlyMine(true)}>
                    Need you {tally.needYou}
                  </button>
                </div>
              </div>
              <TallyMeter tally={tally} />
            </div>
            {isAllUp ? (
              <Banner tone="ok" icon="safe" role="status">
                <strong>
                  {failed === 0
                    ? 'All uploaded. It is safe to close.'
                    : 'Everything else is uploaded. It is safe to close.'}
                </strong>{' '}
                {stillWords(tally.coming)}
              </Banner>
            ) : (
              <Banner
                tone="warn"
                icon="upload"
                role="status"
                action={
                  pausedUntilMs !== null && (
                    <button type="button" className="btn tight quiet" onClick={() => batch.wake()}>
                      Try now
                    </button>
                  )
                }
              >
                {pausedUntilMs === null ? (
                  <strong>Keep this page open for the uploads.</strong>
                ) : (
                  <strong>
                    The connection dropped. The next one goes up in{' '}
                    <span aria-hidden="true">
                      <Countdown untilMs={pausedUntilMs} />
                    </span>
                    <span className="visually-hidden">a moment</span>.
                  </strong>
                )}{' '}
                Everything after that happens without you.
              </Banner>
            )}
            {shiftable(rows).length > 0 && <Shift rows={shiftable(rows).length} />}
          </>
        )}
      </div>
      <ul
        className="ups"
        aria-label="Photos, oldest first"
        ref={list}
        tabIndex={shown.length > 4 ? 0 : undefined}
      >
        {shown.map(({ row, fate, part }) => (
          <BatchRow
            key={row.id}
            row={row}
            fate={fate}
            part={part}
            pending={pending?.pending ?? 0}
            onLeft={() => list.current?.focus()}
          />
        ))}
      </ul>
      {rows.length > 0 && (
        <footer className="sheet-foot">
          <Estimates needed={rows.filter(isToUpload).length} />
          {isGoing && isUploading && unsent > 1 && (
            <button type="button" className="btn quiet" onClick={() => batch.stop()}>
              Stop after this one
            </button>
          )}
          {dropped.length > 0 && (
            <button
              type="button"
              className="btn"
              onClick={() => batch.tryAgain(dropped.map(({ row }) => row.id))}
            >
              <Icon name="retry" />
              Try {dropped.length} again
            </button>
          )}
          {!isGoing && ready > 0 && (
            <button type="button" className="btn primary" onClick={() => batch.go()}>
              <Icon name="upload" />
              {tally.logged + tally.coming > 0 ? 'Go on with' : 'Upload'} {count(ready, 'photo', 'photos')}
            </button>
          )}
          {isAllUp && (
            <button
              type="button"
              className="btn primary"
              onClick={() => {
                onClose()
                if (tally.needYou === 0) batch.clearDone()
              }}
            >
              Close
            </button>
          )}
        </footer>
      )}
    </Sheet>
  )
}

function stillWords(coming: number): string {
  if (coming === 0) return ''
  return coming === 1
    ? '1 photo is still being described; you will find it at its own time.'
    : `${coming} photos are still being described; you will find each at its own time.`
}

function Estimates({ needed }: { needed: number }) {
  const allowance = useAllowance().data
  if (!allowance || allowance.provider === 'none') return <p className="small quiet" />
  const left = leftOf(allowance)
  return (
    <p className="small quiet">
      {count(left, 'estimate', 'estimates')} left today.{' '}
      {needed > 0 && (needed === 1 ? 'This photo needs 1.' : `These photos need ${needed}.`)}
    </p>
  )
}
