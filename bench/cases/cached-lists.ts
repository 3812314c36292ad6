import { writeFileSync } from 'node:fs'
import { fill } from '../lib/fill.ts'
import { startBareList, startGarner, withFolder } from '../lib/garner.ts'
import { type LoadResult, load } from '../lib/load.ts'
import type { Case, Measure } from '../lib/measure.ts'
import { listRequest } from '../lib/requests.ts'

const ROUNDS = 5
const SECONDS = 3
const CLIENTS = 50

/** A list that is in memory, for a member with read marks: who asks is checked, the copy is looked at, the marks put in. */
export const cachedLists: Case = {
  name: 'cached-lists',
  about:
    'A cached list of 200 links (`limit=200`) with 50 clients, access check and read marks included, against a bare Fastify route that sends the same bytes to anyone.',
  async run() {
    const result = { garner: [] as number[], bare: [] as number[], ratio: [] as number[] }
    for (let round = 0; round < ROUNDS; round++) {
      await withFolder(async (folder) => {
        const setUp = await startGarner({ role: 'serve', folder })
        await setUp.stop()
        fill(`${folder}/garner.db`, 200, 400)
        const garner = await startGarner({ role: 'serve', folder })
        const body = await (
          await fetch(`http://127.0.0.1:${garner.port}/api/bookmarks?group=study&limit=200`, {
            headers: { 'x-demo-user': 'alice' },
          })
        ).arrayBuffer()
        writeFileSync(`${folder}/list.json`, Buffer.from(body))
        const bare = await startBareList(`${folder}/list.json`)
        for (const { port } of [garner, bare]) await loaded(port, 1)
        const [ours, theirs] = [await loaded(garner.port, SECONDS), await loaded(bare.port, SECONDS)]
        result.garner.push(ours.perSecond)
        result.bare.push(theirs.perSecond)
        result.ratio.push(ours.perSecond / theirs.perSecond)
        await Promise.all([garner.stop(), bare.stop()])
      })
    }
    return [
      { what: 'cached lists', unit: '/s', values: result.garner },
      { what: 'bare route', unit: '/s', values: result.bare },
      {
        what: 'cached lists ÷ bare route, round by round',
        unit: '',
        values: result.ratio,
        target: { min: 0.6 },
      },
    ] satisfies Measure[]
  },
}

async function loaded(port: number, seconds: number): Promise<LoadResult> {
  const result = await load({ port, clients: CLIENTS, seconds, request: () => listRequest('&limit=200') })
  if (Object.keys(result.statuses).join() !== '200')
    throw new Error(`expected lists alone, got ${JSON.stringify(result.statuses)}`)
  return result
}
