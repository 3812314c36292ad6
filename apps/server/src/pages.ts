import type { Clock } from '@garner/db'
import type { Config } from './config.ts'
import type { Metrics } from './features/operations/metrics.ts'
import { portOf } from './outbound/bad-ports.ts'
import { type FetchAllow, parseFetchAllow } from './outbound/fetch-allow.ts'
import type { Page } from './outbound/page.ts'
import { PageError } from './outbound/page-error.ts'

export type FetchPage = (
  url: string,
  signal: AbortSignal,
  options: { mode?: 'ok' | 'timeout' },
) => Promise<Page>

/** Where pages come from in this process. */
export interface Pages {
  fetchPage: FetchPage
  /** Whether this address is answered by the demo's built-in site, without a network. */
  isFixture: (url: string) => boolean
  /**
   * Loads the fetcher, which is made when it is first needed: listening must not wait for 300 files of its parts. Nothing
   * in a process without a worker: whoever reads from it first would wait 45 ms for what it never uses.
   */
  load: () => Promise<void>
}

/** The real fetcher; in demo mode with the built-in site in front of it. Every fetch is counted by its outcome. */
export function createPages({
  config,
  clock,
  metrics,
  scripted,
}: {
  config: Config
  clock: Clock
  metrics: Metrics
  /** Pages from somewhere else than the network; for tests. */
  scripted: FetchPage | undefined
}): Pages {
  const allow = allowOf(config)
  let site: Promise<FetchPage> | null = null
  const open = () => {
    site ??= scripted ? Promise.resolve(scripted) : openSite({ config, clock, allow })
    return site
  }
  return {
    async fetchPage(url, signal, options) {
      const fetchPage = await open()
      try {
        const page = await fetchPage(url, signal, options)
        metrics.outbound('page', 'ok')
        return page
      } catch (error) {
        metrics.outbound('page', error instanceof PageError ? error.code : 'aborted')
        throw error
      }
    },
    isFixture: (text) => {
      if (scripted) return false
      if (!config.isDemo || config.fetchAllow === '' || !URL.canParse(text)) return config.isDemo
      const url = new URL(text)
      return !allow.reaches(url.hostname, portOf(url))
    },
    async load() {
      if (config.role !== 'serve') await open()
    },
  }
}

async function openSite({
  config,
  clock,
  allow,
}: {
  config: Config
  clock: Clock
  allow: FetchAllow
}): Promise<FetchPage> {
  const { createPageFetcher } = await import('./outbound/page.ts')
  const deadlineMs = config.fetchDeadlineMs
  const fetcher = createPageFetcher({ clock, deadlineMs, allow })
  if (!config.isDemo) return (url, signal) => fetcher.fetchPage(url, signal)
  const { createFixtureSite } = await import('./outbound/page.fake.ts')
  const fixture = createFixtureSite({ clock, fetcher, allow, deadlineMs })
  return (url, signal, options) => fixture.fetchPage(url, signal, options)
}

function allowOf(config: Config): FetchAllow {
  const parsed = parseFetchAllow(config.fetchAllow)
  if (!parsed.ok) throw new Error(parsed.message)
  return parsed.allow
}
