import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import type { Order, Reply } from './answer.ts'

/** A thread or a process that does one kind of work on pictures, as the pool sees it. */
export interface Runner {
  send(order: Order, transfer: ArrayBuffer[]): void
  /** Keeps the program alive while there is work, and not otherwise. */
  hold(isHeld: boolean): void
  /** Ends it, whatever it does. Resolves when it is gone. */
  end(): Promise<void>
}

export interface RunnerEvents {
  replied(reply: Reply): void
  /** It ended, and nobody asked it to. Called once at least. */
  gone(why: unknown): void
}

export type OpenRunner = (events: RunnerEvents) => Runner

/** Of JavaScript objects, not of pixels: metadata made to fill the memory ends its runner, not the program. */
const HEAP_MAX_MB = 192

/**
 * For code that computes on its own thread for long: it can be ended in the midst of a loop, and its memory (a
 * WebAssembly module's too) is given back when it is.
 */
export function openThread(file: URL): OpenRunner {
  return ({ replied, gone }) => {
    const worker = new Worker(file, { resourceLimits: { maxOldGenerationSizeMb: HEAP_MAX_MB } })
    worker.on('message', replied)
    worker.on('error', gone)
    worker.on('exit', (code) => gone({ exitCode: code }))
    return {
      send: (order, transfer) => worker.postMessage(order, transfer),
      hold: (isHeld) => (isHeld ? worker.ref() : worker.unref()),
      end: async () => {
        await worker.terminate()
      },
    }
  }
}

/**
 * For the image library, whose work is done by native threads that belong to the whole process, wherever it is called
 * from. glibc gives each of them an arena of its own that grows to the largest picture and is kept; how it does so can
 * only be said when a process starts. Fifty photos of 12 megapixels, two at a time, took 450 MB beyond the idle program
 * when this was a thread (beside 32 native threads, which name lookups need). In a process with one arena, where large
 * blocks are given back at once, they take 205 MB, both processes together, and the same time.
 * Two more gains: a picture that brings a decoder down does not bring the program down, and what decodes strangers'
 * files has none of the program's secrets in its environment.
 */
const PROCESS_ENV = { MALLOC_ARENA_MAX: '1', MALLOC_MMAP_THRESHOLD_: '131072' }

export function openProcess(file: URL, { nativeThreads }: { nativeThreads: number }): OpenRunner {
  return ({ replied, gone }) => {
    const child = fork(fileURLToPath(file), {
      execArgv: [`--max-old-space-size=${HEAP_MAX_MB}`, '--max-semi-space-size=1'],
      env: { ...PROCESS_ENV, UV_THREADPOOL_SIZE: String(nativeThreads) },
      // Buffers as they are, not as lists of numbers.
      serialization: 'advanced',
      // What native code has to say names files and pictures; the program's standard output is not for it either.
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    })
    const isGone = new Promise<void>((resolve) => {
      child.once('exit', () => resolve())
      child.once('error', () => resolve())
    })
    child.on('message', (reply) => replied(reply as Reply))
    child.on('error', gone)
    child.on('exit', (exitCode, signal) => gone({ exitCode, signal }))
    return {
      // A runner that is just dying is told of by `exit`.
      send: (order) => child.send(order, () => {}),
      hold: (isHeld) => {
        if (isHeld) {
          child.ref()
          child.channel?.ref()
        } else {
          child.unref()
          child.channel?.unref()
        }
      },
      end: () => {
        // Whoever waits for its end must live to see it.
        child.ref()
        child.kill('SIGKILL')
        return isGone
      },
    }
  }
}
