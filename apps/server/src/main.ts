import { randomBytes } from 'node:crypto'
import { enableCompileCache } from 'node:module'

/**
 * The program's entry: hands the machine's clock, randomness and environment to `run`, and its exit code back.
 * Compiled sources are cached between starts before anything large is imported: it halves the time to listening.
 */
enableCompileCache()
// Name lookups wait in the runtime's thread pool, 4 threads by default: four hosts whose names hang would hold up
// every other lookup and all decompression. 32, one for each attempt that the worker makes at a time.
process.env['UV_THREADPOOL_SIZE'] ??= '32'
const { systemClock } = await import('@garner/db')
const { run } = await import('./run.ts')

const code = await run({
  argv: process.argv.slice(2),
  env: process.env,
  clock: systemClock,
  random: Math.random,
  randomBytes,
  signals: process,
  out: (line) => process.stdout.write(`${line}\n`),
  err: (line) => process.stderr.write(`${line}\n`),
})
process.exit(code)
