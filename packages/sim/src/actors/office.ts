import { Connection } from '../store/connection.ts'
import type { Server } from '../store/server.ts'
import type { Life, Machine } from '../world/machine.ts'

/**
 * A process that does what it is asked, when it is asked: a web server, or an operator's shell. After a crash it is
 * started again; what it was doing for somebody is not taken up.
 */
export class Office {
  readonly machine: Machine
  readonly #server: Server
  #connection: Connection | null = null
  #count = 0

  constructor(server: Server, machine: Machine) {
    this.#server = server
    this.machine = machine
    machine.onDown = (forMs) => {
      this.#count = 0
      machine.timeline.after(forMs, () => {
        if (!machine.life) this.start()
      })
    }
  }

  /** Whether it is still doing something for somebody. */
  get isBusy(): boolean {
    return this.#count > 0
  }

  start(): void {
    this.#connection = new Connection(this.#server, this.machine.start())
  }

  /** Has the life of now do `work`; nothing when it is down. */
  do(work: (life: Life, connection: Connection) => Promise<void>): void {
    const { life } = this.machine
    const connection = this.#connection
    if (!life || !connection) return
    this.#count++
    life.whenRunning(() => {
      void work(life, connection).then(() => {
        if (this.machine.life === life) this.#count--
      })
    })
  }
}
