import type { Me } from '@garner/server/api'
import { Icon } from '../ui/icon.tsx'
import { useSignOut } from '../use-sign-out.ts'

/** Asked, and not let in yet. The page asks every few seconds and opens by itself. */
export function Waiting({ me }: { me: Me }) {
  const signOut = useSignOut()
  return (
    <section className="asked" aria-labelledby="waiting">
      <svg className="bigjar" viewBox="0 0 32 40" aria-hidden="true">
        <defs>
          <pattern
            id="hatch"
            width="4"
            height="4"
            patternUnits="userSpaceOnUse"
            patternTransform="rotate(45)"
          >
            <rect width="4" height="4" fill="var(--hatch-gap)" />
            <rect width="1.4" height="4" fill="var(--accent)" />
          </pattern>
        </defs>
        <rect x="9.5" y="2.5" width="13" height="4.5" rx="2" fill="currentColor" />
        <rect
          x="4"
          y="10"
          width="24"
          height="27"
          rx="7"
          fill="url(#hatch)"
          stroke="currentColor"
          strokeWidth="2"
        />
      </svg>
      <header>
        <h1 id="waiting">
          Almost in, <bdi>{me.name}</bdi>
        </h1>
        <p>
          The person who runs this Garner has been told. This page opens by itself when you are let in. You
          can also close it and come back.
        </p>
      </header>
      <ol className="steps card">
        <li>
          <Icon name="check" />
          <span>You asked for an account</span>
        </li>
        <li>
          <i className="soon hatch" />
          <span>You are let in</span>
          <span className="quiet" role="status">
            waiting
          </span>
        </li>
        <li>
          <i className="later" />
          <span>Your list opens</span>
        </li>
      </ol>
      <button type="button" className="btn quiet" onClick={() => void signOut()}>
        <Icon name="signout" />
        Sign out
      </button>
    </section>
  )
}

export function TurnedAway() {
  const signOut = useSignOut()
  return (
    <section aria-labelledby="away">
      <header>
        <h1 id="away">This account was not let in</h1>
        <p>If you think that is a mistake, talk to the person who runs this Garner.</p>
      </header>
      <button type="button" className="btn" onClick={() => void signOut()}>
        Sign out
      </button>
    </section>
  )
}
