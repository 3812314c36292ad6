import type { GroupSummary, Me } from '@garner/server/api'
import { type ReactNode, useEffect } from 'react'
import { useGarner } from './garner.ts'
import { waitingCount } from './reading/outbox.ts'
import { useUnread } from './reading/use-unread.ts'
import { useStore } from './store.ts'
import { Icon, Mark } from './ui/icon.tsx'
import { Link } from './ui/location.tsx'
import { Pip } from './ui/person.tsx'
import { Toaster } from './ui/toaster.tsx'

/** The frame of every screen: a rail on wide windows, tabs under the thumb on narrow ones; one `nav` for both. */
export function Shell(props: {
  me: Me
  group: GroupSummary | null
  screen: 'reading' | 'meals' | 'settings'
  title: string
  children: ReactNode
}) {
  const { me, group, screen, title } = props
  const home = group ? `/reading/${encodeURIComponent(group.id)}` : '/reading'
  const unread = useUnread(group)

  useEffect(() => {
    document.title = `${title} · Garner`
  }, [title])

  return (
    <>
      <a className="skip" href="#main">
        Skip to the content
      </a>
      <div className="app">
        <header className="rail">
          <Link className="brand" to={home}>
            <Mark />
            Garner
          </Link>
          <nav aria-label="Main">
            <ul className="tabs">
              <li>
                <Link to={home} current={screen === 'reading'}>
                  <Icon name="reading" />
                  Reading
                  {unread > 0 && (
                    <span className="count">
                      {unread > 999 ? '999+' : unread}
                      <span className="visually-hidden"> unread</span>
                    </span>
                  )}
                </Link>
              </li>
              <li>
                <Link to="/meals" current={screen === 'meals'}>
                  <Icon name="meals" />
                  Meals
                </Link>
              </li>
              <li>
                <Link to="/settings" current={screen === 'settings'}>
                  <Icon name="settings" />
                  Settings
                </Link>
              </li>
            </ul>
          </nav>
          <Toaster />
          <div className="rail-foot">
            <LiveLine />
            <Link className="me" to="/settings#you">
              <Pip person={me} />
              <span>
                <strong>
                  <bdi>{me.name}</bdi>
                </strong>
                {me.role === 'admin' && (
                  <>
                    <br />
                    runs this Garner
                  </>
                )}
              </span>
            </Link>
          </div>
        </header>
        <main id="main" tabIndex={-1}>
          {props.children}
        </main>
      </div>
    </>
  )
}

function LiveLine() {
  const { live, online, outbox } = useGarner()
  const state = useStore(live)
  const isOnline = useStore(online)
  const waiting = waitingCount(useStore(outbox.links))
  if (!isOnline) {
    return (
      <p className="live">
        <Icon name="offline" />
        Offline{waiting > 0 && `, ${waiting} waiting`}
      </p>
    )
  }
  return (
    <p className="live">
      <span className={`dot ${state === 'live' ? '' : 'warn'}`} />
      {state === 'live' ? 'Live' : 'Catching up every 15 s'}
    </p>
  )
}
