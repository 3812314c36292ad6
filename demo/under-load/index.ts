import { availableParallelism } from 'node:os'
import { BALANCER_MS, Balancer } from '../fleet/balancer.ts'
import { makeLists } from '../fleet/lists.ts'
import { metricsOf } from '../fleet/metrics.ts'
import { nowMs, originReads } from '../fleet/origin-log.ts'
import { Place } from '../fleet/place.ts'
import { weigh } from '../fleet/weight.ts'
import { judged } from '../verdict.ts'
import { type Options, readOptions } from './options.ts'
import { Readers } from './readers.ts'
import { figuresOf, HEAD, lineOf, type Run, type SceneRun, tableOf, verdictsOf } from './report.ts'
import { Savers } from './savers.ts'
import { courseOf, type Happening, type Scene } from './scenes.ts'

/**
 * `npm run demo -- under-load`: what Garner promises of list reads (C2 to C5), with real processes, a real database and
 * a real shared cache, while they break one after the other. Answers 0 when everything was kept, 1 when not, 2 when it
 * was not understood.
 */
export async function underLoad(args: string[]): Promise<number> {
  const options = readOptions(args)
  if (typeof options === 'string') {
    console.error(options)
    return 2
  }
  console.log(
    `Starting ${options.instances} servers on one SQLite database, on a machine with ${availableParallelism()} cores.`,
  )
  return Place.during(options, async (place) => {
    const done = await run(place, options)
    const { lines, code } = judged(verdictsOf(done), figuresOf(done))
    console.log(['', ...tableOf(done), '', ...lines].join('\n'))
    return code
  })
}

async function run(place: Place, options: Options): Promise<Run> {
  for (const line of introduction(place, options)) console.log(line)
  const groups = await makeLists(place.instances[0]!, options.lists)
  const balancer = new Balancer()
  await Promise.all(place.instances.map((one) => balancer.admit(one)))
  const readers = new Readers({ balancer, groups, rate: options.rate })
  const savers = new Savers({ balancer, groups })
  const course = courseOf(options)
  const scenes: SceneRun[] = []
  const weights: Run['weights'] = []
  const underWay: Promise<unknown>[] = []
  // What fails is told at the end, when all of it is awaited.
  const leave = (work: Promise<unknown>) => {
    work.catch(() => {})
    underWay.push(work)
  }
  const begin = (scene: Scene) => scenes.push({ ...scene, tally: readers.beginScene() })
  const happens = async (what: Happening) => {
    if (what === 'weighed') weights.push(await weigh(place.instances))
    else await happen(what, { place, balancer })
  }
  const due = [
    ...course.scenes.map((scene) => ({ atS: scene.fromS, act: () => begin(scene) })),
    ...course.happenings.map(({ atS, what }) => ({ atS, act: () => leave(happens(what)) })),
  ].sort((a, b) => a.atS - b.atS)

  // The first second is theirs from its beginning, and nothing of their lists has been read yet.
  due.shift()!.act()
  const startedMs = nowMs()
  const end = new AbortController()
  leave(readers.run(end.signal))
  leave(savers.run(end.signal))
  console.log(`\n${HEAD}`)
  for (let n = 1; n <= course.endS; n++) {
    for (; due[0] && due[0].atS < n; due.shift()) {
      await until(startedMs + due[0].atS * 1_000)
      due[0].act()
    }
    await until(startedMs + n * 1_000)
    const reads = originReads(place.logDir).filter((ms) => ms >= startedMs + (n - 1) * 1_000)
    const scene = course.scenes.find(({ fromS, toS }) => n - 0.5 >= fromS && n - 0.5 < toS)?.name ?? ''
    console.log(lineOf({ atS: n, second: readers.takeSecond(), originReads: reads.length, scene }))
  }
  end.abort()
  await Promise.all(underWay)
  return {
    ...{ options, startedMs, scenes, weights, originReads: originReads(place.logDir) },
    ...{ inFlight: readers.inFlight, saves: savers.counts, own: await ownNumbers(place) },
  }
}

async function happen(
  what: Exclude<Happening, 'weighed'>,
  { place, balancer }: { place: Place; balancer: Balancer },
): Promise<void> {
  if (what === 'cache-killed') await place.cache?.kill()
  else if (what === 'cache-back') await place.cache?.start()
  else if (what === 'lock-taken') place.lock()
  else if (what === 'lock-released') place.unlock()
  else if (what === 'killed') place.killOne()
  else if (what === 'replaced') await balancer.admit(await place.startOne())
  else if (what === 'paused') place.instances[0]?.signal('SIGSTOP')
  else for (const one of place.instances) one.signal('SIGCONT')
}

function introduction(place: Place, options: Options): string[] {
  const cache = place.cache
    ? 'a shared cache of its own'
    : 'NO shared cache: there is neither valkey-server nor redis-server on this machine, so the scenes about it show nothing'
  return [
    '',
    `${options.rate} list reads per second over ${options.lists} lists; the database may be asked ${options.budget} times in any second; ${cache}.`,
    'Real: the servers, the database and its locks, the shared cache, every kill and pause, the hour by which one server is ahead.',
    'Simulated: the readers and their load balancer, in this process; all hosts are one machine, so the network never fails.',
    'The balancer sends a server its readers once it has answered a health check and twenty reads of a list that is none of theirs,',
    `takes it out when it breaks a connection or says nothing for ${BALANCER_MS / 1_000} s, and back when it is healthy again.`,
    'Assumed: how popular lists are (Zipf, 0.8), a save every 0.4 s. The figures are of a machine whose servers, database, cache and readers share its cores.',
    'That the budget is not renewed is done by holding the write lock of the database; the lists can still be read.',
    `Making ${options.lists} lists …`,
  ]
}

async function ownNumbers(place: Place): Promise<Run['own']> {
  const metric = await metricsOf(place.instances)
  const [offered, ended, inFlight] = ['offered_total', 'total', 'in_flight'].map((name) =>
    metric(`garner_reads_${name}`),
  ) as [number, number, number]
  return { offered, ended, inFlight }
}

async function until(ms: number): Promise<void> {
  while (nowMs() < ms) await new Promise((resolve) => setTimeout(resolve, 5))
}
