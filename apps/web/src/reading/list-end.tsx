import type { Filter } from '../http/api.ts'
import { useNow } from '../ui/countdown.tsx'
import { date } from '../words/calendar.ts'
import { useReading } from './context.tsx'
import type { ListView } from './list.ts'
import { type ListHook, PAGE } from './use-list.ts'

/** How far down one is, and the way further; at the end, who began. */
export function ListEnd({ view, filter, list }: { view: ListView; filter: Filter; list: ListHook }) {
  const { me } = useReading()
  const nowMs = useNow(60_000)
  const shown = view.items.length
  const total = filter.q === '' ? view.counts[filter.show] : null
  if (view.next !== null) {
    return (
      <div className="more-links">
        <span>
          <span className="num">{shown}</span>
          {total !== null && (
            <>
              {' '}
              of <span className="num">{Math.max(total, shown)}</span>
            </>
          )}{' '}
          shown. Older links come as you scroll.
        </span>
        <button
          type="button"
          className="btn tight"
          aria-disabled={list.loadingMore || undefined}
          onClick={list.more}
        >
          {list.loadingMore ? 'On their way' : `Show ${PAGE} more`}
        </button>
      </div>
    )
  }
  const first = view.items.at(-1)
  // A short list has its end in view; saying so would be noise.
  if (!first || shown < 12 || filter.q !== '' || filter.show !== 'all') return null
  return (
    <p className="more-links">
      <span>
        That is all of them. <bdi>{first.owner.id === me.id ? 'You' : first.owner.name}</bdi> saved the first
        one on {date(Date.parse(first.saved_at), { nowMs })}.
      </span>
    </p>
  )
}
