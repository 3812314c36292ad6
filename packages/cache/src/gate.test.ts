import { ManualClock } from '@garner/db'
import { describe, expect, test } from 'vitest'
import { Deadlines } from './deadlines.ts'
import { Demand } from './demand.ts'
import { Gate, type GateOptions } from './gate.ts'
import { HeldShare, type Rank } from './held-share.ts'

const settle = async () => {
  for (let n = 0; n < 5; n++) await new Promise(setImmediate)
}

/** A gate whose share is set by hand. */
class Scene {
  readonly clock = new ManualClock()
  readonly share = new HeldShare()
  readonly gate: Gate
  mayGrow = false
  shorts = 0
  /** What became of each, in order. */
  readonly log: string[] = []
  #generation = 0

  constructor(part: Partial<GateOptions> = {}) {
    this.gate = new Gate({
      share: this.share,
      demand: new Demand(),
      now: () => ({ atLeastMs: this.clock.monotonicMs(), atMostMs: this.clock.monotonicMs() }),
      deadlines: new Deadlines(this.clock),
      waitersMax: 100,
      mayGrow: () => this.mayGrow,
      nextLookInMs: () => 700,
      onShort: () => {
        this.shorts++
      },
      ...part,
    })
  }

  lend(rate: number, concurrency = 100): void {
    const lease = {
      generation: ++this.#generation,
      rate,
      ownRate: 0,
      concurrency,
      ttlMs: 3_000,
      isOwed: false,
    }
    this.share.take(lease, this.clock.monotonicMs() + this.#generation / 1_000)
  }

  enter(name: string, rank: Rank = 'read', waitMs = 250) {
    const ticket = this.gate.enter({ rank, untilMs: this.clock.monotonicMs() + waitMs })
    ticket.admitted.then(
      () => this.log.push(name),
      (error) => this.log.push(`${name}: ${error.reason}`),
    )
    return ticket
  }

  async pass(ms: number): Promise<void> {
    for (let n = 0; n < ms; n++) {
      this.clock.advance(1)
      await settle()
    }
  }
}

describe('who may read the origin', () => {
  test('as many as the share allows, the rest in the order in which they came', async () => {
    const scene = new Scene()
    scene.lend(10, 2)
    for (const name of ['a', 'b', 'c', 'd']) scene.enter(name)
    await settle()
    expect(scene.log).toEqual(['a', 'b'])
    scene.gate.end()
    scene.gate.end()
    await settle()
    expect(scene.log).toEqual(['a', 'b', 'c', 'd'])
    expect(scene.gate.counters()).toEqual({ admitted: 4, refused: 0, waiting: 0 })
  })

  test('own saves before reads, whenever they come', async () => {
    const scene = new Scene()
    scene.lend(10, 1)
    scene.enter('first')
    scene.enter('read')
    scene.enter('own', 'own')
    for (let n = 0; n < 3; n++) {
      await settle()
      scene.gate.end()
    }
    await settle()
    expect(scene.log).toEqual(['first', 'own', 'read'])
  })

  test('a refresh only if there is room at once', async () => {
    const scene = new Scene()
    scene.lend(10, 1)
    scene.enter('refresh', 'refresh')
    scene.enter('another', 'refresh')
    await settle()
    expect(scene.log).toEqual(['refresh', 'another: spent'])
  })

  test('nobody passes one who waits already', async () => {
    const scene = new Scene()
    scene.lend(10, 1)
    scene.enter('first')
    scene.enter('waits', 'own')
    scene.enter('later')
    scene.enter('refresh', 'refresh')
    scene.gate.end()
    await settle()
    expect(scene.log).toEqual(['first', 'refresh: spent', 'waits'])
  })

  test('nor in the moment in which there is room for one who waits, and they do not know it yet', async () => {
    const scene = new Scene()
    scene.lend(1)
    scene.enter('first')
    scene.gate.end()
    await scene.pass(900)
    scene.enter('waits')
    scene.clock.advance(200)
    scene.enter('passes?')
    await settle()
    expect(scene.log).toEqual(['first', 'passes?: spent', 'waits'])
  })

  test('whoever is raised to an own save goes before the others', async () => {
    const scene = new Scene()
    scene.lend(10, 1)
    scene.enter('first')
    scene.enter('second')
    const raised = scene.enter('raised')
    raised.extend({ rank: 'own', untilMs: 0 })
    await settle()
    scene.gate.end()
    await settle()
    expect(scene.log).toEqual(['first', 'raised'])
  })

  test('a place that was given back is another’s', async () => {
    const scene = new Scene()
    scene.lend(1, 1)
    scene.enter('unneeded')
    scene.mayGrow = true
    scene.enter('next')
    await settle()
    scene.gate.giveBack()
    await settle()
    expect(scene.log).toEqual(['unneeded', 'next'])
    expect(scene.gate.counters()).toMatchObject({ admitted: 1 })
  })

  test('when the window has room again, without anybody’s doing', async () => {
    const scene = new Scene()
    scene.lend(1)
    scene.enter('first')
    scene.gate.end()
    await scene.pass(900)
    scene.enter('second')
    await scene.pass(109)
    expect(scene.log).toEqual(['first'])
    await scene.pass(2)
    expect(scene.log).toEqual(['first', 'second'])
  })
})

describe('who is refused', () => {
  test('at once, whoever cannot be served in time; with the time when it is worth coming back', async () => {
    const scene = new Scene()
    scene.lend(1)
    scene.enter('first')
    scene.gate.end()
    const ticket = scene.gate.enter({ rank: 'read', untilMs: 250 })
    await expect(ticket.admitted).rejects.toMatchObject({
      code: 'BUDGET_SPENT',
      reason: 'spent',
      retryAfterMs: 1_010,
    })
    expect(scene.shorts).toBe(1)
  })

  test('at once, without a share and without hope of one', async () => {
    const scene = new Scene()
    const ticket = scene.gate.enter({ rank: 'own', untilMs: 250 })
    await expect(ticket.admitted).rejects.toMatchObject({ reason: 'no-share', retryAfterMs: 700 })
  })

  test('when their time is over, though the share might still have grown', async () => {
    const scene = new Scene()
    scene.mayGrow = true
    scene.enter('waits')
    await scene.pass(249)
    expect(scene.log).toEqual([])
    await scene.pass(1)
    expect(scene.log).toEqual(['waits: no-share'])
    expect(scene.gate.waiting).toBe(0)
  })

  test('a longer time that somebody else brings counts', async () => {
    const scene = new Scene()
    scene.mayGrow = true
    const ticket = scene.enter('waits', 'read', 100)
    ticket.extend({ rank: 'read', untilMs: 300 })
    await scene.pass(299)
    expect(scene.log).toEqual([])
    await scene.pass(2)
    expect(scene.log).toHaveLength(1)
  })

  test('all who waited for a larger share, when it does not come', async () => {
    const scene = new Scene()
    scene.mayGrow = true
    scene.enter('read')
    scene.enter('own', 'own')
    scene.mayGrow = false
    scene.gate.reconsider()
    await settle()
    expect(scene.log.sort()).toEqual(['own: no-share', 'read: no-share'])
  })

  test('not those among them whose turn comes in time', async () => {
    const scene = new Scene()
    scene.lend(2)
    scene.enter('first')
    scene.gate.end()
    await scene.pass(300)
    scene.enter('second')
    scene.gate.end()
    await scene.pass(500)
    scene.mayGrow = true
    scene.enter('in time')
    scene.enter('too late')
    scene.mayGrow = false
    scene.gate.reconsider()
    await settle()
    expect(scene.log).toEqual(['first', 'second', 'too late: spent'])
    await scene.pass(211)
    expect(scene.log.at(-1)).toBe('in time')
  })

  test('the last of the reads, when the list is full and an own save comes', async () => {
    const scene = new Scene({ waitersMax: 2 })
    scene.mayGrow = true
    scene.enter('a')
    scene.enter('b')
    scene.enter('c')
    scene.enter('own', 'own')
    await settle()
    expect(scene.log).toEqual(['c: no-share', 'b: no-share'])
    scene.lend(10)
    scene.gate.reconsider()
    await settle()
    expect(scene.log.slice(2)).toEqual(['own', 'a'])
  })
})

test('a larger share admits at once those who waited for it', async () => {
  const scene = new Scene()
  scene.mayGrow = true
  for (const name of ['a', 'b', 'c']) scene.enter(name)
  scene.lend(2)
  scene.mayGrow = false
  scene.gate.reconsider()
  await settle()
  expect(scene.log).toEqual(['a', 'b', 'c: spent'])
})
