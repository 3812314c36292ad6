import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sleep } from './clock.ts'
import type { FromChild, FromSession, Produced, Task } from './messages.ts'
import { place } from './place.ts'

const PROGRAM = fileURLToPath(new URL('child.ts', import.meta.url))

type Answer<T extends FromChild['type']> = FromChild & { type: T }

/** A process under measurement. */
export interface Child {
  /** The next message of this type, or the one that has come already. Errors: Error when the process fails or ends. */
  answer<T extends FromChild['type']>(type: T, maxMs: number): Promise<Answer<T>>
  onMessage(listen: (message: FromChild) => void): void
  /** The reason, once the process has failed or ended without being asked. */
  failure(): Error | undefined
  say(message: FromSession): void
  /** Waits for its end for `graceMs`, then kills it. */
  end(graceMs: number): Promise<void>
}

const running = new Set<ReturnType<typeof spawn>>()
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

export function spawnChild(task: Task, nodeArgs: string[] = []): Child {
  const child = spawn(process.execPath, [...nodeArgs, PROGRAM, JSON.stringify(task)], {
    stdio: ['ignore', 'ignore', process.env.BENCH_VERBOSE ? 'inherit' : 'ignore', 'ipc'],
    env: {
      ...process.env,
      // graphile-worker prints a line for each job otherwise; its documentation names this for measuring.
      NO_LOG_SUCCESS: '1',
      // The sources are TypeScript. Without the cache each process loads the compiler that strips the types, which
      // is 17 MB of memory that a package as it is published does not have.
      NODE_COMPILE_CACHE: join(place().folder, 'compile-cache'),
    },
  })
  running.add(child)
  const seen: FromChild[] = []
  const listeners = new Set<(message: FromChild | null) => void>()
  let failure: Error | undefined
  const tell = (message: FromChild | null) => {
    for (const listen of [...listeners]) listen(message)
  }
  child.on('message', (message: FromChild) => {
    if (message.type === 'failed') failure ??= new Error(message.error)
    if (message.type !== 'progress') seen.push(message)
    tell(message)
  })
  const gone = new Promise<void>((resolve) => {
    child.once('exit', (code, signal) => {
      running.delete(child)
      if (code !== 0) failure ??= new Error(`${task.role} of ${task.peer} ended with ${code ?? signal}.`)
      tell(null)
      resolve()
    })
  })

  function answer<T extends FromChild['type']>(type: T, maxMs: number): Promise<Answer<T>> {
    return new Promise((resolve, reject) => {
      const look = () => {
        const at = seen.findIndex((message) => message.type === type)
        if (at >= 0) done(() => resolve(seen.splice(at, 1)[0] as Answer<T>))
        else if (failure) done(() => reject(failure))
        else if (child.exitCode !== null) done(() => reject(new Error(`It ended before it was ${type}.`)))
      }
      const timer = setTimeout(() => {
        child.kill('SIGKILL')
        done(() => reject(new Error(`${task.role} of ${task.peer} was not ${type} within ${maxMs} ms.`)))
      }, maxMs)
      const done = (then: () => void) => {
        clearTimeout(timer)
        listeners.delete(look)
        then()
      }
      listeners.add(look)
      look()
    })
  }

  return {
    answer,
    onMessage: (listen) => listeners.add((message) => message && listen(message)),
    failure: () => failure,
    say(message) {
      if (child.connected) child.send(message)
    },
    async end(graceMs) {
      await Promise.race([gone, sleep(graceMs)])
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
      await gone
    },
  }
}

/** Offers a load from a process of its own. */
export async function produceWith(
  task: Omit<Task & { role: 'producer' }, 'role'>,
  maxMs = 900_000,
): Promise<Produced> {
  const child = spawnChild({ role: 'producer', ...task })
  const produced = await child.answer('produced', maxMs)
  await child.end(7000)
  return produced
}
