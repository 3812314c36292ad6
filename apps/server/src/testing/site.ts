import type { Page } from '../outbound/page.ts'
import { asPageError } from '../outbound/page-error.ts'

/** A request that the made-up internet has been asked and has not answered yet. */
export interface Asked {
  url: string
  signal: AbortSignal
  answer: (title: string | null, part?: Partial<Page>) => void
  fail: (error: Error) => void
}

/**
 * The internet, as a test says it is: every request is written down and waits for its answer, unless a rule says
 * what is answered at once.
 */
export class Site {
  /** Every address that was asked for, in order. */
  readonly requests: string[] = []
  /** Not answered yet, oldest first. */
  readonly waiting: Asked[] = []
  /** What is answered at once: a title, an error, or undefined to wait. */
  rule: (url: string) => string | Error | undefined = () => undefined

  readonly fetchPage = (url: string, signal: AbortSignal): Promise<Page> => {
    this.requests.push(url)
    const { promise, resolve, reject } = Promise.withResolvers<Page>()
    const answer: Asked['answer'] = (title, part) => {
      this.#forget(asked)
      resolve({ title, shown: null, finalUrl: url, status: 200, bytes: 100, ...part })
    }
    const fail: Asked['fail'] = (error) => {
      this.#forget(asked)
      reject(error)
    }
    const asked: Asked = { url, signal, answer, fail }
    this.waiting.push(asked)
    if (signal.aborted) fail(signal.reason)
    else signal.addEventListener('abort', () => fail(signal.reason ?? new Error('aborted')), { once: true })
    const now = this.rule(url)
    if (typeof now === 'string') answer(now)
    else if (now) fail(now)
    return promise
  }

  /** The oldest unanswered request for this address; the oldest of all when none is named. */
  asked(url?: string): Asked {
    const found = this.waiting.find((one) => url === undefined || one.url === url)
    if (!found) throw new Error(`Nobody is asking for ${url ?? 'anything'} now.`)
    return found
  }

  #forget(asked: Asked): void {
    const place = this.waiting.indexOf(asked)
    if (place >= 0) this.waiting.splice(place, 1)
  }
}

/** What a machine without a network says of every name. */
export function noNetwork(): Error {
  return asPageError(Object.assign(new Error('getaddrinfo EAI_AGAIN'), { code: 'EAI_AGAIN' }))
}
