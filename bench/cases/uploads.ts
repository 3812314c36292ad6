import { readdirSync, readFileSync } from 'node:fs'
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Running, startGarner, withFolder } from '../lib/garner.ts'
import { type Case, type Measure, median } from '../lib/measure.ts'
import { paint } from '../lib/paint.ts'
import { startVision } from '../lib/vision.ts'

const IN_SEQUENCE = 20
const AT_ONCE = 50
const MEALS = 20
const ROUNDS = 3
const USER = { 'x-demo-user': 'alice' }
const ENV = { GARNER_MAX_PENDING: '1000', GARNER_UPLOADS_PER_MINUTE: '10000', GARNER_AI_DAILY_LIMIT: '10000' }

/** What a person waits for, and what the machine needs for it. */
export const uploads: Case = {
  name: 'uploads',
  about: `Uploads of 12-megapixel JPEGs (3 MB) to the real program while no call to the vision provider ever returns: ${IN_SEQUENCE} one after another, then ${AT_ONCE} at once with the resident memory of all its processes; and with a provider that answers at once, from sending a photo until its meal can be read.`,
  run: () =>
    withFolder(async (folder) => {
      const photos = (await paint(folder, 4)).map((path) => readFileSync(path))
      const hanging = await underHangingVision(photos)
      return [...hanging, await untilMeal(photos)]
    }),
}

async function underHangingVision(photos: Buffer[]): Promise<Measure[]> {
  const answered = { p50: [] as number[], p99: [] as number[] }
  const peakMb: number[] = []
  const slowestMs: number[] = []
  const vision = await startVision('never')
  for (let round = 0; round < ROUNDS; round++) {
    await withFolder(async (folder) => {
      const garner = await startGarner({ folder, env: { ...ENV, GARNER_VISION_URL: vision.url } })
      const tookMs: number[] = []
      for (let n = 0; n < IN_SEQUENCE; n++) tookMs.push(await upload(garner, photos, n))
      tookMs.sort((a, b) => a - b)
      answered.p50.push(median(tookMs))
      // Of twenty, the slowest.
      answered.p99.push(tookMs.at(-1)!)
      let isOver = false
      const peak = watchMemory(garner.pid, () => isOver)
      const all = Array.from({ length: AT_ONCE }, (_, n) => upload(garner, photos, IN_SEQUENCE + n))
      slowestMs.push(Math.max(...(await Promise.all(all))))
      isOver = true
      peakMb.push(await peak)
      await garner.stop()
    })
  }
  vision.close()
  return [
    { what: `p50 of ${IN_SEQUENCE} in sequence`, unit: 'ms', values: answered.p50 },
    { what: 'the slowest of them (p99)', unit: 'ms', values: answered.p99, target: { max: 1_500 } },
    { what: `${AT_ONCE} at once: the last answer`, unit: 'ms', values: slowestMs },
    {
      ...{ what: `${AT_ONCE} at once: resident memory, all processes`, unit: 'MB' },
      ...{ values: peakMb, target: { max: 450 } },
    },
  ]
}

/** From the 202 to the meal, as a client that asks again and again sees it. */
async function untilMeal(photos: Buffer[]): Promise<Measure> {
  const vision = await startVision('at once')
  const tookMs: number[] = []
  await withFolder(async (folder) => {
    const garner = await startGarner({ folder, env: { ...ENV, GARNER_VISION_URL: vision.url } })
    for (let n = 0; n <= MEALS; n++) {
      await upload(garner, photos, n)
      const acceptedMs = performance.now()
      while ((await pending(garner)) > 0) await sleep(5)
      // The first loads what later ones find loaded.
      if (n > 0) tookMs.push(performance.now() - acceptedMs)
    }
    await garner.stop()
  })
  vision.close()
  return {
    what: 'from the 202 to the meal, provider at once',
    unit: 'ms',
    values: tookMs,
    target: { max: 300 },
  }
}

/** Forced, since they look alike. Answers how long it took. Errors: anything but 202. */
async function upload({ port }: Running, photos: Buffer[], n: number): Promise<number> {
  const form = new FormData()
  const time = `${String(Math.floor(n / 60)).padStart(2, '0')}:${String(n % 60).padStart(2, '0')}`
  for (const [name, value] of Object.entries({ date: '2026-08-01', time, force: 'true' }))
    form.set(name, value)
  form.set('photo', new Blob([another(photos[n % photos.length]!, n)]), 'photo.jpg')
  const startedMs = performance.now()
  const options = { method: 'POST', headers: USER, body: form }
  const answer = await fetch(`http://127.0.0.1:${port}/api/auto-log`, options)
  const text = await answer.text()
  if (answer.status !== 202) throw new Error(`An upload was answered ${answer.status}: ${text}`)
  return performance.now() - startedMs
}

/** The same picture in other bytes: with a comment behind its first two. */
function another(jpeg: Buffer, n: number): Uint8Array<ArrayBuffer> {
  const comment = Buffer.from([0xff, 0xfe, 0, 4, n >> 8, n & 0xff])
  return new Uint8Array(Buffer.concat([jpeg.subarray(0, 2), comment, jpeg.subarray(2)]))
}

async function pending({ port }: Running): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${port}/api/auto-log/pending`, { headers: USER })
  return ((await answer.json()) as { pending: number }).pending
}

/**
 * The most that a process and those it started have had together, looked at every 20 ms. In MB; pages that they share
 * (the program itself) count once.
 */
async function watchMemory(pid: number, isOver: () => boolean): Promise<number> {
  let peak = 0
  while (!isOver()) {
    peak = Math.max(
      peak,
      familyOf(pid).reduce((sum, one) => sum + residentMb(one), 0),
    )
    await sleep(20)
  }
  return peak
}

function familyOf(pid: number): number[] {
  const parents = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => ({ pid: Number(name), parent: parentOf(Number(name)) }))
  const family = [pid]
  for (const one of family) {
    family.push(...parents.filter(({ parent }) => parent === one).map((child) => child.pid))
  }
  return family
}

function parentOf(pid: number): number {
  return Number(/^PPid:\s+(\d+)/m.exec(textOf(`/proc/${pid}/status`))?.[1] ?? 0)
}

function residentMb(pid: number): number {
  return Number(/^Pss:\s+(\d+)/m.exec(textOf(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0) / 1024
}

/** Empty when its process is gone. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
