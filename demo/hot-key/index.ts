import { availableParallelism } from 'node:os'
import { Balancer } from '../fleet/balancer.ts'
import { makeLists } from '../fleet/lists.ts'
import { Place } from '../fleet/place.ts'
import { judged } from '../verdict.ts'
import { type Options, readOptions } from './options.ts'
import { figuresOf, HEAD, lineOf, verdictsOf } from './report.ts'
import { fillAndExpire, MAX_STALE_S, type Round, round } from './round.ts'

/**
 * `npm run demo -- hot-key`: everybody wants one list, and its copies have just expired in every process and in the shared
 * cache (C2, C3). Answers 0 when everything was kept, 1 when not, 2 when it was not understood.
 */
export async function hotKey(args: string[]): Promise<number> {
  const options = readOptions(args)
  if (typeof options === 'string') {
    console.error(options)
    return 2
  }
  const { instances, budget } = options
  console.log(
    `Starting ${instances} servers on one SQLite database, on a machine with ${availableParallelism()} cores.`,
  )
  const env = { GARNER_FRESH_S: String(MAX_STALE_S / 2), GARNER_MAX_STALE_S: String(MAX_STALE_S) }
  return Place.during({ instances, budget, env }, async (place) => {
    const rounds = await run(place, options)
    const { lines, code } = judged(verdictsOf(rounds, options), figuresOf(rounds))
    console.log(['', ...lines].join('\n'))
    return code
  })
}

async function run(place: Place, options: Options): Promise<Round[]> {
  for (const line of introduction(place, options)) console.log(line)
  const [group] = await makeLists(place.instances[0]!, 1)
  const balancer = new Balancer()
  await Promise.all(place.instances.map((one) => balancer.admit(one)))
  const reading = { place, instances: balancer.up, group: group!, readers: options.readers }
  await fillAndExpire({ ...reading, hasShared: place.cache !== null })
  const rounds: Round[] = []
  const some = async (hasShared: boolean) => {
    for (let n = 0; n < options.rounds; n++) {
      rounds.push(await round({ ...reading, hasShared }))
      console.log(lineOf(rounds.at(-1)!, rounds.length))
    }
  }
  console.log(`\n${HEAD}`)
  if (place.cache) {
    await some(true)
    await place.cache.kill()
  }
  await some(false)
  return rounds
}

function introduction(place: Place, { readers, budget }: Options): string[] {
  const cache = place.cache
    ? 'a shared cache of its own, which is killed halfway'
    : 'NO shared cache: there is neither valkey-server nor redis-server on this machine, so only the half without it is shown'
  return [
    '',
    `${readers} readers at once, evenly over the servers, of one list whose copies are ${MAX_STALE_S} s old everywhere: expired.`,
    `The database may be asked ${budget} times in any second; ${cache}.`,
    'Real: the servers, the database, the shared cache. Simulated: the readers, in this process; all hosts are one machine.',
    'Before it counts, each server has answered a health check and twenty reads of another list, as a load balancer would see to.',
  ]
}
