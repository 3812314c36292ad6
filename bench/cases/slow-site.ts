import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { startGarner, withFolder } from '../lib/garner.ts'
import { load, percentile } from '../lib/load.ts'
import type { Case } from '../lib/measure.ts'
import { saveRequest, UNBOUNDED } from '../lib/requests.ts'

const ROUNDS = 5
const SAVES = 600
const CLIENTS = 8

/** A save must not feel what the site does: web, API and worker in one process, one site quick and one that hangs. */
export const slowSite: Case = {
  name: 'slow-site',
  about: `A save's latency (${CLIENTS} clients) with the site answering after 30 s, against a site that answers at once; the worker fetches meanwhile.`,
  async run() {
    const ratios = { p50: [] as number[], p99: [] as number[] }
    const seen = {
      quick50: [] as number[],
      slow50: [] as number[],
      quick99: [] as number[],
      slow99: [] as number[],
    }
    for (let i = 0; i <= ROUNDS; i++) {
      const quick = await latencies(0)
      const slow = await latencies(30_000)
      if (i === 0) continue
      ratios.p50.push(slow.p50 / quick.p50)
      ratios.p99.push(slow.p99 / quick.p99)
      seen.quick50.push(quick.p50)
      seen.slow50.push(slow.p50)
      seen.quick99.push(quick.p99)
      seen.slow99.push(slow.p99)
    }
    return [
      { what: 'save p50, quick site', unit: 'ms', values: seen.quick50 },
      { what: 'save p50, site takes 30 s', unit: 'ms', values: seen.slow50 },
      { what: 'save p99, quick site', unit: 'ms', values: seen.quick99 },
      { what: 'save p99, site takes 30 s', unit: 'ms', values: seen.slow99 },
      { what: 'p50, slow ÷ quick', unit: '', values: ratios.p50, target: { max: 1.2 } },
      { what: 'p99, slow ÷ quick', unit: '', values: ratios.p99, target: { max: 1.2 } },
    ]
  },
}

function latencies(answerAfterMs: number): Promise<{ p50: number; p99: number }> {
  return withFolder(async (folder) => {
    const site = await startSite(answerAfterMs)
    const sitePort = (site.address() as AddressInfo).port
    const env = { ...UNBOUNDED, GARNER_FETCH_ALLOW: `127.0.0.1:${sitePort}` }
    const garner = await startGarner({ folder, env })
    const request = (n: number) => saveRequest(`http://127.0.0.1:${sitePort}/page/${n}`)
    // The first saves warm the process up.
    await load({ port: garner.port, clients: CLIENTS, requests: 300, request: (n) => request(1_000_000 + n) })
    const { latenciesMs } = await load({ port: garner.port, clients: CLIENTS, requests: SAVES, request })
    await garner.stop()
    site.closeAllConnections()
    site.close()
    return { p50: percentile(latenciesMs, 0.5), p99: percentile(latenciesMs, 0.99) }
  })
}

function startSite(answerAfterMs: number): Promise<Server> {
  const site = createServer((_request, response) => {
    const answer = () => response.setHeader('content-type', 'text/html').end('<title>A page</title>')
    if (answerAfterMs === 0) answer()
    else setTimeout(answer, answerAfterMs).unref()
  })
  return new Promise((resolve) => site.listen(0, '127.0.0.1', () => resolve(site)))
}
