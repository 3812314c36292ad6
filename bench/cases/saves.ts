import { startBare, startGarner, withFolder } from '../lib/garner.ts'
import { load } from '../lib/load.ts'
import type { Case } from '../lib/measure.ts'
import { saveRequest, UNBOUNDED } from '../lib/requests.ts'

const ROUNDS = 5
const SECONDS = 4

/** Durable saves against a route that keeps nothing, in turns, so that both meet the same noise. */
export const saves: Case = {
  name: 'saves',
  about:
    'Durable saves over HTTP with 50 clients, against a bare Fastify route with the same body and answer.',
  run: () =>
    withFolder(async (folder) => {
      const garner = await startGarner({ role: 'serve', folder, env: UNBOUNDED })
      const bare = await startBare()
      const perSecond = { garner: [] as number[], bare: [] as number[] }
      let n = 0
      const round = async (name: 'garner' | 'bare', port: number) => {
        const request = () => saveRequest(`https://example.com/saved/${n++}`)
        perSecond[name].push((await load({ port, clients: 50, seconds: SECONDS, request })).perSecond)
      }
      // The first round warms both up and is thrown away.
      for (let i = 0; i <= ROUNDS; i++) {
        await round('bare', bare.port)
        await round('garner', garner.port)
      }
      await Promise.all([garner.stop(), bare.stop()])
      const [saved, answered] = [perSecond.garner.slice(1), perSecond.bare.slice(1)]
      return [
        { what: 'durable saves', unit: '/s', values: saved },
        { what: 'bare route', unit: '/s', values: answered },
        {
          what: 'durable saves ÷ bare route, round by round',
          unit: '',
          values: saved.map((value, i) => value / answered[i]!),
          target: { min: 0.5 },
        },
      ]
    }),
}

/** The same with every sync taking 10 ms: one sync serves all that wait for it. */
export const slowDisk: Case = {
  name: 'slow-disk',
  about:
    'Durable saves over HTTP with 50 clients while every sync to disk takes 10 ms (`commit.sync:delay=10`).',
  run: () =>
    withFolder(async (folder) => {
      const env = { ...UNBOUNDED, GARNER_FAULT: 'commit.sync:delay=10' }
      const garner = await startGarner({ role: 'serve', folder, env })
      const values: number[] = []
      let n = 0
      for (let i = 0; i <= ROUNDS; i++) {
        const request = () => saveRequest(`https://example.com/slow/${n++}`)
        values.push((await load({ port: garner.port, clients: 50, seconds: SECONDS, request })).perSecond)
      }
      await garner.stop()
      return [
        { what: 'durable saves, 10 ms syncs', unit: '/s', values: values.slice(1), target: { min: 2000 } },
      ]
    }),
}
