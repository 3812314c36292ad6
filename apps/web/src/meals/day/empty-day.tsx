import { Icon } from '../../ui/icon.tsx'
import { Link } from '../../ui/location.tsx'
import { useDiary } from '../context.tsx'
import { mealsPath } from '../place.ts'
import { Jar } from './jar.tsx'

export function EmptyDay({ onAdd }: { onAdd(): void }) {
  const { day } = useDiary()
  return (
    <section className="card empty-day" aria-labelledby="empty-title">
      <Jar solid={0} hatched={0} isEmpty />
      <h2 id="empty-title">Nothing logged on this day</h2>
      <p className="quiet">
        Pick any number of photos. Each becomes its own meal at the time it was taken, and you can close the
        page once they are up.
      </p>
      <div className="buttons">
        <button type="button" className="btn primary" onClick={onAdd}>
          <Icon name="camera" />
          Add photos
        </button>
        <Link className="btn" to={mealsPath(day, { is: 'write' })} over>
          Write a meal
        </Link>
      </div>
    </section>
  )
}
