import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { systemClock } from '@garner/db'
import { inspectFile } from '../../apps/server/src/features/meals/photo/inspect.ts'
import { createPictures } from '../../apps/server/src/features/meals/photo/pictures.ts'

/**
 * A process that does nothing but read the pictures whose paths it is given, all at once, and prints the most memory
 * that it had before the first of them, and with its own process for pictures in the end. In MB, as the kernel counts.
 */
const mostMb = (pid: string) =>
  Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
const children = () =>
  readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').split(' ').filter(Boolean)

const before = mostMb('self')
const pictures = createPictures({ clock: systemClock(), cores: availableParallelism(), maxPx: 1600 })
await Promise.all(
  process.argv.slice(2).map(async (path) => pictures.normalise(path, await inspectFile(path))),
)
const after = ['self', ...children()].map(mostMb).reduce((sum, mb) => sum + mb, 0)
await pictures.close()
console.log(JSON.stringify({ before, after }))
