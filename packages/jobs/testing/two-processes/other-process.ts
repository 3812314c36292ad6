import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { type Clock, ManualClock } from '@garner/db'
import type { Bounds } from '../../src/rank.ts'
import type { SqliteJobStore } from '../../src/sqlite/store.ts'
import { instantOf } from './clocks.ts'
import { type Message, Wire } from './wire.ts'

export interface OpenOther {
  path: string
  bounds: Bounds
  retryAfterMs: number
}

/** A store of the other process, as this one calls it. */
export interface OtherStore extends SqliteJobStore {
  /** Resolves once what was asked before has got as far as it can: it is answered, waits for a lock, or for us. */
  settled(): Promise<void>
  /** How often it has found the file's write lock taken. */
  lockWaits(): Promise<number>
  close(): Promise<void>
}

/** What the other process offers. */
export interface Offer {
  open(options: OpenOther): Promise<OtherStore>
  pid(): Promise<number>
}

/**
 * A second process (program.ts) that opens SQLite stores on files. Each is used like a store of this process: its
 * transactions run there, the work in them here, and each statement of that work makes one call over (wire.ts).
 * Whatever is said to it takes this process's time along, by which its store then goes.
 *
 * One for a file of tests: starting takes a tenth of a second, opening a store a few milliseconds. If it dies, every
 * call under way is told so; it cannot outlive this process.
 */
export class OtherProcess {
  readonly #child: ChildProcess
  readonly #offer: Offer
  /** As it says itself. */
  pid = 0
  #clock: Clock = new ManualClock()

  private constructor() {
    const program = fileURLToPath(new URL('./program.ts', import.meta.url))
    const child = fork(program, { serialization: 'advanced', execArgv: [] })
    const wire = new Wire({
      // What cannot be sent any more is no error of its own: the end of the process fails the calls.
      send: (message) => void child.send(message, () => {}),
      stamp: () => instantOf(this.#clock),
    })
    child.on('message', (message: Message) => wire.take(message))
    child.on('exit', (code, signal) => {
      wire.end(new Error(`The other process has ended (${signal ?? code}).`))
    })
    this.#child = child
    this.#offer = wire.other(['open', 'pid']) as Offer
  }

  /** Resolves when it answers. */
  static async start(): Promise<OtherProcess> {
    const other = new OtherProcess()
    other.pid = await other.#offer.pid()
    return other
  }

  /** Opens a store there on the same file; `clock` is both processes' time from now on. */
  open({ clock, ...options }: OpenOther & { clock: Clock }): Promise<OtherStore> {
    this.#clock = clock
    return this.#offer.open(options)
  }

  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null
  }

  async end(): Promise<void> {
    if (this.hasEnded) return
    const gone = once(this.#child, 'exit')
    this.#child.disconnect()
    await gone
  }

  /** Cuts it off: nothing that it was doing is finished. */
  async kill(): Promise<void> {
    const gone = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await gone
  }
}
