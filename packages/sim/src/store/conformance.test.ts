import { ManualClock } from '@garner/db'
import type { Bounds } from '@garner/jobs'
import { describeJobStore } from '@garner/jobs/testing'
import { Machine, WallClock } from '../world/machine.ts'
import { World } from '../world/world.ts'
import { Connection } from './connection.ts'
import { Server } from './server.ts'
import type { SimTransaction } from './sim-transaction.ts'

/** A world in which nothing goes wrong, that goes on by itself whenever somebody waits; tests hold transactions open. */
function calmWorld(): World {
  const surroundings = {
    ...{ seed: 1, startMs: 0, faults: [] },
    latency: { mostMs: 0, slowMs: 0, slowOneIn: 1_000_000 },
    hints: { lost: 0, repeated: 0, mostDelayMs: 0 },
  }
  return new World(surroundings, { isSelfRunning: true, heldOpenMs: Number.POSITIVE_INFINITY })
}

function open({ bounds, retryAfterMs }: { bounds: Bounds; retryAfterMs: number }) {
  const clock = new ManualClock()
  const world = calmWorld()
  const server = new Server(world, { bounds, retryAfterMs, clock })
  const connect = (name: string) => {
    const machine = new Machine({ name, timeline: world.timeline, wall: new WallClock(world.timeline, 0) })
    return new Connection(server, machine.start())
  }
  let count = 0
  return {
    store: connect('first'),
    second: connect('second'),
    clock,
    caller: {
      write: (tx: SimTransaction, text: string) =>
        tx.put({ table: 'shown', key: String(++count), jobId: text, epoch: 0, what: text }),
      rows: async () => server.app.all('shown').map(({ what }) => what),
    },
    close: async () => {},
  }
}

// Two connections through the wire, as two processes of a run have them: what the simulation stands on is the store
// that is promised, and not one of its own.
describeJobStore<SimTransaction>({
  name: 'simulated, two connections',
  open: async (options) => open(options),
})
