import { execFile } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { performance } from 'node:perf_hooks'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { systemClock } from '@garner/db'
import sharp from 'sharp'
import { inspectFile } from '../../apps/server/src/features/meals/photo/inspect.ts'
import { createPictures, type Pictures } from '../../apps/server/src/features/meals/photo/pictures.ts'
import { withFolder } from '../lib/garner.ts'
import type { Case } from '../lib/measure.ts'
import { paint } from '../lib/paint.ts'

const ROUNDS = 5
const PHOTOS = 16
const HEICS = 4
const AT_ONCE = 50
const HEIC = fileURLToPath(new URL('../../tests/cases/photos/real/samsung-s24fe.heic', import.meta.url))
/** All processes of the program together may have 450 MB; 130 of them it has when idle (footprint). */
const AT_ONCE_MAX_MB = 320

/** What an upload costs beyond the image library: header, another process, look; and what other requests feel of it. */
export const photos: Case = {
  name: 'photos',
  about: `${PHOTOS} JPEGs of 12 megapixels (3 MB each), as many at a time as there are cores, through what inspects, normalises and fingerprints them, against the bare sharp pipeline on the same files; and the longest time that the event loop stood still meanwhile, also with the HEIC of a phone (7.4 megapixels).`,
  async run() {
    return withFolder(async (folder) => {
      const files = await paint(folder)
      const pictures = createPictures({ clock: systemClock(), cores: availableParallelism(), maxPx: 1600 })
      const seen = {
        ...{ ours: [] as number[], bare: [] as number[], ratio: [] as number[] },
        ...{ block: [] as number[], work: [] as number[] },
      }
      const heic = { perSecond: [] as number[], block: [] as number[], work: [] as number[] }
      for (let round = 0; round <= ROUNDS; round++) {
        const bare = await rate(repeat(files, PHOTOS), availableParallelism(), bareSharp)
        const ours = await rate(repeat(files, PHOTOS), availableParallelism(), through(pictures))
        const phone = await rate(repeat([HEIC], HEICS), HEICS, through(pictures))
        // The first round loads the libraries.
        if (round === 0) continue
        seen.bare.push(bare.perSecond)
        seen.ours.push(ours.perSecond)
        seen.ratio.push(ours.perSecond / bare.perSecond)
        seen.block.push(ours.longestBlockMs)
        seen.work.push(ours.longestWorkMs)
        heic.perSecond.push(phone.perSecond)
        heic.block.push(phone.longestBlockMs)
        heic.work.push(phone.longestWorkMs)
      }
      await pictures.close()
      const memory = { jpeg: [] as number[], heic: [] as number[] }
      for (let round = 0; round < 3; round++) {
        memory.jpeg.push(await growthMb(repeat(files, AT_ONCE)))
        memory.heic.push(await growthMb(repeat([...files, HEIC], AT_ONCE)))
      }
      return [
        { what: 'bare sharp', unit: 'photos/s', values: seen.bare },
        { what: 'normalised and fingerprinted', unit: 'photos/s', values: seen.ours },
        { what: 'ours ÷ bare, round by round', unit: '', values: seen.ratio, target: { min: 0.85 } },
        {
          what: 'longest block of the event loop, JPEG',
          unit: 'ms',
          values: seen.block,
          target: { max: 50 },
        },
        { what: 'of it processor time', unit: 'ms', values: seen.work },
        { what: 'HEIC of a phone', unit: 'photos/s', values: heic.perSecond },
        {
          what: 'longest block of the event loop, HEIC',
          unit: 'ms',
          values: heic.block,
          target: { max: 50 },
        },
        { what: 'of it processor time', unit: 'ms', values: heic.work },
        {
          ...{ what: `memory for ${AT_ONCE} JPEGs at once, all processes`, unit: 'MB' },
          ...{ values: memory.jpeg, target: { max: AT_ONCE_MAX_MB } },
        },
        {
          ...{ what: `the same, every fifth a HEIC`, unit: 'MB' },
          ...{ values: memory.heic, target: { max: AT_ONCE_MAX_MB } },
        },
      ]
    })
  },
}

type Work = (path: string) => Promise<unknown>

const through =
  (pictures: Pictures): Work =>
  async (path) =>
    pictures.normalise(path, await inspectFile(path))

const bareSharp: Work = (path) =>
  sharp(path, { failOn: 'truncated' })
    .autoOrient()
    .resize(1600, 1600, { fit: 'inside', withoutEnlargement: true })
    .jpeg({ quality: 85 })
    .toBuffer()

interface Rate {
  perSecond: number
  /** From one turn of the event loop to the next, on the wall: what a busy machine takes from it is in here. */
  longestBlockMs: number
  /** The same in processor time of this thread: what the code itself takes. */
  longestWorkMs: number
}

async function rate(paths: string[], atATime: number, work: Work): Promise<Rate> {
  const turns = watchTurns()
  const startedMs = performance.now()
  const left = paths.values()
  await Promise.all(
    Array.from({ length: atATime }, async () => {
      for (const path of left) await work(path)
    }),
  )
  const perSecond = (paths.length / (performance.now() - startedMs)) * 1000
  return { perSecond, ...turns.stop() }
}

function watchTurns(): { stop: () => Pick<Rate, 'longestBlockMs' | 'longestWorkMs'> } {
  const longest = { longestBlockMs: 0, longestWorkMs: 0 }
  let atMs = performance.now()
  let cpu = process.threadCpuUsage()
  const timer = setInterval(() => {
    const { user, system } = process.threadCpuUsage(cpu)
    longest.longestWorkMs = Math.max(longest.longestWorkMs, (user + system) / 1000)
    longest.longestBlockMs = Math.max(longest.longestBlockMs, performance.now() - atMs)
    atMs = performance.now()
    cpu = process.threadCpuUsage()
  }, 1)
  return {
    stop: () => {
      clearInterval(timer)
      return longest
    },
  }
}

async function growthMb(paths: string[]): Promise<number> {
  const script = fileURLToPath(new URL('../lib/photos-at-once.ts', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, [script, ...paths])
  const { before, after } = JSON.parse(stdout) as { before: number; after: number }
  return after - before
}

function repeat<T>(list: T[], length: number): T[] {
  return Array.from({ length }, (_, i) => list[i % list.length]!)
}
