import { spawn } from 'node:child_process'
import { performance } from 'node:perf_hooks'
import { fileURLToPath } from 'node:url'
import { startGarner, withFolder } from '../lib/garner.ts'
import { load } from '../lib/load.ts'
import type { Case } from '../lib/measure.ts'
import { listRequest, saveRequest, UNBOUNDED } from '../lib/requests.ts'

const ROUNDS = 5
const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** What the program costs when nothing happens, when much waits, and until it is there. */
export const footprint: Case = {
  name: 'footprint',
  about: 'The whole program (web, API, worker in one process): memory as the kernel counts it, and start-up.',
  async run() {
    const idle: number[] = []
    const pending: number[] = []
    const start: number[] = []
    for (let i = 0; i < ROUNDS; i++) {
      await withFolder(async (folder) => {
        const garner = await startGarner({ folder })
        await load({ port: garner.port, clients: 2, requests: 20, request: () => listRequest() })
        await settle()
        idle.push(garner.residentMb())
        await garner.stop()
      })
      // The worker is kept from draining by a site that never answers within the run.
      await withFolder(async (folder) => {
        const env = { ...UNBOUNDED, GARNER_FAULT: 'fetch.after-response:hang' }
        const garner = await startGarner({ folder, env })
        const request = (n: number) => saveRequest(`https://example.com/pending/${n}`)
        await load({ port: garner.port, clients: 20, requests: 10_000, request })
        await settle()
        pending.push(garner.residentMb())
        await garner.stop()
      })
      await withFolder(async (folder) => {
        start.push(await secondsToListen(folder))
      })
    }
    return [
      { what: 'resident memory, idle', unit: 'MB', values: idle, target: { max: 200 } },
      { what: 'resident memory, 10,000 jobs pending', unit: 'MB', values: pending, target: { max: 300 } },
      { what: '`npm start` (installed, built) to listening', unit: 's', values: start, target: { max: 2 } },
    ]
  },
}

function settle(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 2_000))
}

/** From the command that a person types to the line that means ready. */
function secondsToListen(folder: string): Promise<number> {
  const startedMs = performance.now()
  const child = spawn('npm', ['start', '--', '--port', '0', '--data', folder], {
    cwd: ROOT,
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  return new Promise((resolve, reject) => {
    let seen = ''
    child.stdout.on('data', (chunk) => {
      seen += chunk
      if (!seen.includes('Garner listening on')) return
      const seconds = (performance.now() - startedMs) / 1000
      child.once('exit', () => resolve(seconds))
      process.kill(-child.pid!, 'SIGTERM')
    })
    child.once('error', reject)
  })
}
