import type { Clock } from '@garner/db'

/**
 * Hears that somebody's account, session, token or membership has changed, by whichever process, so that what is remembered
 * of it (remembered.ts) is forgotten at once and not only when it has become too old.
 *
 * The database says so in the transaction that changes it (migrations/postgres/0002_access_news.sql), once it is there.
 * A hint like any other (J2). Lost, late, or not to be heard at all (behind a pooler; no connection left for it; the
 * connection broken): what is remembered ends by its age, as if nobody said anything.
 * Cut while hearing: what was said meanwhile is not known, so hearing again counts as having heard something; and so does
 * hearing for the first time, since something may have been read before.
 */
export interface AccessNewsOptions {
  /** Calls `wake` whenever `channel` was notified or may have been; null where nothing can be heard. */
  listen: Listen
  clock: Clock
  onNews: () => void
}

export type Listen = (channel: string, wake: () => void) => Promise<Hearing | null>

export interface Hearing {
  close(): Promise<void>
}

/** What the triggers notify. */
const CHANNEL = 'garner_access'
/** 5 s: as often as a connection that was lost is tried again. More often helps nobody: the age is 5 s by default, too. */
const AGAIN_MS = 5_000

/** Hears from now on, or from when the database can be reached, until it is closed. */
export function hearAccessNews({ listen, clock, onNews }: AccessNewsOptions): Hearing {
  const end = new AbortController()

  async function begin(): Promise<Hearing | null> {
    while (!end.signal.aborted) {
      try {
        const hearing = await listen(CHANNEL, onNews)
        onNews()
        return hearing
      } catch {
        // Whatever it is: that nothing is heard costs some seconds, and nobody a request.
        await clock.sleep(AGAIN_MS, end.signal)
      }
    }
    return null
  }

  const beginning = begin()
  return {
    async close() {
      end.abort('closed')
      await (await beginning)?.close()
    },
  }
}
