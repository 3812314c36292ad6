import { availableParallelism } from 'node:os'
import { makeLists } from './lists.ts'
import { type Options, readOptions } from './options.ts'
import { nowMs, originReads } from './origin-log.ts'
import { Place } from './place.ts'
import { Readers } from './readers.ts'
import { HEAD, lineOf, p99, type Run, tableOf, verdictsOf } from './report.ts'
import { Savers } from './savers.ts'
import { type Happening, scenesOf } from './scenes.ts'

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
  const place = await Place.open(options)
  const stop = () => void place.close().then(() => process.exit(130))
  process.once('SIGINT', stop)
  try {
    return report(await run(place, options))
  } finally {
    process.removeListener('SIGINT', stop)
    await place.close()
  }
}

async function run(place: Place, options: Options): Promise<Run> {
  for (const line of introduction(place, options)) console.log(line)
  const groups = await makeLists(place.instances[0]!, options.lists)
  // Ahead of the readers, so that all of the first second is theirs: nothing has been read yet.
  const { scenes, happenings } = scenesOf(options.seconds)
  const instances = () => place.instances
  const readers = new Readers({ instances, groups, rate: options.rate })
  const savers = new Savers({ instances, groups })
  const end = new AbortController()
  const startedMs = nowMs()
  const atS = () => (nowMs() - startedMs) / 1_000
  const running = [readers.run(end.signal), savers.run(end.signal)]
  const seconds: Run['seconds'] = []
  const replaced: Promise<unknown>[] = []

  console.log(`\n${HEAD}`)
  for (let n = 1; n <= options.seconds; n++) {
    for (const { atS: dueS, what } of happenings.filter((one) => one.atS >= n - 1 && one.atS < n)) {
      await until(() => atS() >= dueS)
      replaced.push(happen(place, what))
    }
    await until(() => atS() >= n)
    const second = readers.takeSecond()
    seconds.push({ atS: n, second })
    const reads = originReads(place.logDir).filter((ms) => ms >= startedMs + (n - 1) * 1_000)
    const scene = scenes.find(({ fromS, toS }) => n - 0.5 >= fromS && n - 0.5 < toS)?.name ?? ''
    console.log(lineOf({ atS: n, second, originReads: reads.length, scene }))
  }
  end.abort()
  await Promise.all([...running, ...replaced])
  const { offered, inFlight, ends } = readers.total
  return {
    ...{ options, startedMs, scenes, seconds, offered, inFlight, ends, refusedMs: readers.refusedMs },
    ...{ originReads: originReads(place.logDir), saves: savers.counts, own: await ownNumbers(place) },
  }
}

async function happen(place: Place, what: Happening): Promise<void> {
  if (what === 'cache-killed') await place.cache?.kill()
  else if (what === 'cache-back') await place.cache?.start()
  else if (what === 'lock-taken') place.lock()
  else if (what === 'lock-released') place.unlock()
  else if (what === 'killed') place.killOne()
  else if (what === 'replaced') await place.startOne()
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
    'Assumed: how popular lists are (Zipf, 0.8), that the balancer gives up after 1.5 s, a save every 0.4 s. The figures are of a machine whose servers, database, cache and readers share its cores.',
    'That the budget is not renewed is done by holding the write lock of the database; the lists can still be read.',
    `Making ${options.lists} lists …`,
  ]
}

async function ownNumbers(place: Place): Promise<Run['own']> {
  const own = { offered: 0, ended: 0 }
  for (const instance of place.instances) {
    const { body } = await instance.ask('/metrics')
    for (const [, name, value] of body.matchAll(/^(garner_reads_(?:offered_)?total\b\S*) (\d+)$/gm)) {
      if (name === 'garner_reads_offered_total') own.offered += Number(value)
      else own.ended += Number(value)
    }
  }
  return own
}

function report(run: Run): number {
  const verdicts = verdictsOf(run)
  console.log(`\n${tableOf(run).join('\n')}\n`)
  const refused = run.refusedMs.sort((a, b) => a - b)
  console.log(`refusals: p50 ${p50(refused)} ms, p99 ${p99(refused)} ms; the readers' patience is 250 ms\n`)
  for (const { claim, found, isKept } of verdicts)
    console.log(`${isKept ? 'kept  ' : 'BROKEN'}  ${claim}: ${found}`)
  const isKept = verdicts.every((one) => one.isKept)
  console.log(isKept ? '\nEverything was kept.' : '\nA promise was broken.')
  return isKept ? 0 : 1
}

function p50(sorted: readonly number[]): string {
  return sorted[Math.floor(sorted.length / 2)]?.toFixed(0) ?? '-'
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5))
}
