/** A list of about 1 KB, as the origin answers it. */
export interface List {
  v: number
  links: { id: string; url: string; title: string }[]
}

export interface Opened {
  get(key: string): Promise<List> | List
  close(): Promise<void>
}

/** One caching library, set up as its guide says for lists that others may read at the same time. */
export interface Peer {
  /** The package whose version is reported; null for Garner's own. */
  package: string | null
  /** Whether an old copy can be served while it is renewed: what a bare LRU does not have to look after. */
  hasStale: boolean
  /** `memory`: this process's copies alone. `shared`: the shared cache at `url` alone. */
  open(options: {
    tier: 'memory' | 'shared'
    url: string
    load: (key: string) => Promise<List>
  }): Promise<Opened>
}

/** Longer than a run: nothing expires while it is measured. */
export const FRESH_MS = 3_600_000
/** More than there are keys. */
export const ENTRIES_MAX = 20_000

export function listOf(key: string): List {
  const links = Array.from({ length: 10 }, (_, n) => ({
    ...{ id: `${key}-${n}`, url: `https://example.com/${key}/${n}`, title: `Number ${n} of ${key}` },
  }))
  return { v: 1, links }
}
