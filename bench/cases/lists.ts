import { fill } from '../lib/fill.ts'
import { startGarner, withFolder } from '../lib/garner.ts'
import { load, percentile } from '../lib/load.ts'
import type { Case, Measure } from '../lib/measure.ts'
import { listRequest } from '../lib/requests.ts'

const ROUNDS = 5
/** No copies, and a budget that does not matter here. */
const UNCACHED = {
  ...{ GARNER_FRESH_S: '0', GARNER_MAX_STALE_S: '0' },
  ...{ GARNER_ORIGIN_READS_PER_SECOND: '1000000', GARNER_ORIGIN_CONCURRENCY: '1000' },
}

/** The first page of a list as a client gets it: access check, page, read marks, names, totals, JSON. */
export const lists: Case = {
  name: 'lists',
  about:
    'The first page of `GET /api/bookmarks` (50 links), no copies kept (`GARNER_MAX_STALE_S=0`); one client at a time, and four that ask in turns.',
  async run() {
    const small = await firstPage({ links: 200, marks: 400, share: 0.99 })
    const large = await firstPage({ links: 42_000, marks: 350_000, share: 0.95 })
    return [
      { what: 'very first read after the start, 200 links', unit: 'ms', values: small.first },
      { what: 'first page of 200 links, p99', unit: 'ms', values: small.alone, target: { max: 20 } },
      { what: 'the same with four clients', unit: 'ms', values: small.together },
      {
        what: 'first page of 42,000 links and 350,000 read marks, p95',
        unit: 'ms',
        values: large.alone,
        target: { max: 50 },
      },
      { what: 'the same with four clients', unit: 'ms', values: large.together },
    ] satisfies Measure[]
  },
}

async function firstPage({ links, marks, share }: { links: number; marks: number; share: number }): Promise<{
  first: number[]
  alone: number[]
  together: number[]
}> {
  const result = { first: [] as number[], alone: [] as number[], together: [] as number[] }
  for (let i = 0; i < ROUNDS; i++) {
    await withFolder(async (folder) => {
      const setUp = await startGarner({ role: 'serve', folder })
      await setUp.stop()
      fill(`${folder}/garner.db`, links, marks)
      const garner = await startGarner({ role: 'serve', folder, env: UNCACHED })
      const port = garner.port
      const [first] = (await load({ port, clients: 1, requests: 1, request: () => listRequest() }))
        .latenciesMs
      result.first.push(first!)
      for (const [name, clients] of [
        ['alone', 1],
        ['together', 4],
      ] as const) {
        // A process that has just started compiles its code during its first hundred answers (the row above is about
        // that). Its share of the origin budget follows demand, from a few reads a second up, and readers of one list
        // are one read: many different short pages, refused at first and back at once, make it as large as it need be.
        // Not searches: on the long list those take longer than a first page, and make a share too small for it.
        await load({
          ...{ port, clients: 32, seconds: 3 },
          request: (n) => listRequest(`&mine=true&limit=${1 + (n % 40)}`),
        })
        await load({ port, clients, seconds: 0.5, request: () => listRequest() })
        const { latenciesMs, statuses } = await load({
          port,
          clients,
          requests: 500,
          request: () => listRequest(),
        })
        if (statuses['200'] !== 500) throw new Error(`expected 500 lists, got ${JSON.stringify(statuses)}`)
        result[name].push(percentile(latenciesMs, share))
      }
      await garner.stop()
    })
  }
  return result
}
