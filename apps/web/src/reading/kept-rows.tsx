import { useGarner } from '../garner.ts'
import { useStore } from '../store.ts'
import { Icon } from '../ui/icon.tsx'
import { SiteTile } from '../ui/person.tsx'
import { bare } from '../words/link.ts'
import { BareAddress } from './link-name.tsx'

/** Links that this device keeps until the server has them: hollow, because nobody else can see them yet. */
export function KeptRows({ group }: { group: string }) {
  const { outbox } = useGarner()
  const kept = useStore(outbox.links).filter((link) => link.group === group)
  if (kept.length === 0) return null
  return (
    <section aria-labelledby="kept">
      <h2 className="day" id="kept">
        Not up yet
      </h2>
      <ul className="rows" aria-labelledby="kept">
        {kept.toReversed().map((link, i) => (
          <li
            key={link.key}
            className={`row kept ${i === 0 ? 'first' : ''} ${i === kept.length - 1 ? 'last' : ''}`}
          >
            <span className="mark" aria-hidden="true">
              <span />
            </span>
            <SiteTile url={link.url} />
            <div className="what">
              <h3>
                <BareAddress url={link.url} />
              </h3>
              {link.refused === null ? (
                <p className="state">
                  <Icon name="phone" />
                  Kept on this device. Goes up when you are online.
                </p>
              ) : (
                <p className="state bad">
                  <Icon name="alert" />
                  <span>Not saved. {link.refused}</span>
                </p>
              )}
              {link.note && (
                <p className="note">
                  <Icon name="note" />
                  <span dir="auto">{link.note}</span>
                </p>
              )}
            </div>
            <div className="act">
              <button
                type="button"
                className="icon-btn"
                aria-label={`Remove ${bare(link.url)}`}
                onClick={() => outbox.remove(link.key)}
              >
                <Icon name="x" />
              </button>
            </div>
          </li>
        ))}
      </ul>
    </section>
  )
}
