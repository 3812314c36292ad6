import type { Me } from '@garner/server/api'
import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useGarner } from '../garner.ts'
import { go, usePlace } from '../ui/location.tsx'
import { AskIn } from './ask-in.tsx'
import { DemoChooser } from './demo-chooser.tsx'
import { Idea } from './idea.tsx'
import { SetUp } from './set-up.tsx'
import { SignIn } from './sign-in.tsx'
import { TurnedAway, Waiting } from './waiting.tsx'
import './welcome.css'

/** The door: who is not in yet sees one of these, and nothing else of Garner. */
export function WelcomeScreen({ me }: { me: Me | null }) {
  const { api, queries, troubles } = useGarner()
  const place = usePlace()
  const welcome = useQuery({ queryKey: ['welcome'], queryFn: () => api.welcome() })

  useEffect(() => {
    document.title = 'Welcome · Garner'
  }, [])

  // Signed out, or the session ended by itself: nothing of a list stays in memory for whoever comes next.
  useEffect(() => {
    if (me !== null) return
    queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'me' && queryKey[0] !== 'welcome' })
    troubles.set(new Map())
    api.forgetVersions()
  }, [me, queries, troubles, api])

  const door = () => {
    if (me?.status === 'pending') return <Waiting me={me} />
    if (me?.status === 'rejected') return <TurnedAway />
    if (!welcome.data) return null
    if (welcome.data.demo) return <DemoChooser people={welcome.data.demo_users} />
    if (welcome.data.setup_needed) return <SetUp />
    if (place.pathname === '/join') return <AskIn onSignIn={() => go('/')} />
    return <SignIn onJoin={() => go('/join')} />
  }
  return (
    <>
      <a className="skip" href="#main">
        Skip to the form
      </a>
      <div className="welcome">
        <Idea />
        <main className="door" id="main" tabIndex={-1}>
          {door()}
        </main>
      </div>
    </>
  )
}
