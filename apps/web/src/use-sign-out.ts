import { useGarner } from './garner.ts'
import { failureOf } from './http/failure.ts'
import { go } from './ui/location.tsx'

/**
 * Ends the session; the door then forgets every list. Links still in the outbox and drafts stay on the device for their owner;
 * photos that were picked and are not up go with the page, which was said before.
 * Without an answer nothing is forgotten: one would look signed out and not be. Resolves to the words why not, or null.
 */
export function useSignOut(): () => Promise<string | null> {
  const { api, batch, queries, demoUser } = useGarner()
  return async () => {
    if (demoUser.get() === null) {
      try {
        await api.signOut()
      } catch (error) {
        const failure = failureOf(error)
        if (failure.status !== 401) {
          return failure.isUnreachable
            ? 'Garner does not answer, so you are still signed in.'
            : 'That did not work: you are still signed in.'
        }
      }
    }
    batch.forget()
    demoUser.set(null)
    queries.setQueryData(['me'], null)
    go('/', 'replace')
    return null
  }
}
