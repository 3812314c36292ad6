import { expect, test } from 'vitest'
import { Machine, WallClock } from './machine.ts'
import { Timeline } from './timeline.ts'

function machine() {
  const timeline = new Timeline()
  const one = new Machine({ name: 'worker-1', timeline, wall: new WallClock(timeline, 1_000_000) })
  const heard: string[] = []
  const say = (word: string) => () => heard.push(`${word}@${timeline.nowMs}`)
  return { timeline, machine: one, heard, say, toTheEnd: () => timeline.run(() => false) }
}

test('a life that stands still takes in what came meanwhile when it goes on, in order', async () => {
  const { timeline, machine: one, heard, say, toTheEnd } = machine()
  const life = one.start()
  timeline.after(5, () => life.stall(100))
  life.receive(1, say('before'))
  life.receive(50, say('second'))
  life.receive(20, say('first'))
  life.receive(200, say('after'))
  await toTheEnd()
  expect(heard).toEqual(['before@1', 'first@105', 'second@105', 'after@200'])
})

test('nothing that comes between two held-back things overtakes them', async () => {
  const { timeline, machine: one, heard, say, toTheEnd } = machine()
  const life = one.start()
  timeline.after(5, () => life.stall(100))
  life.receive(20, () => {
    say('first')()
    life.whenRunning(say('new'))
  })
  life.receive(50, say('second'))
  await toTheEnd()
  expect(heard).toEqual(['first@105', 'second@105', 'new@105'])
})

test('a dead life hears nothing, and the next one nothing of what was meant for it', async () => {
  const { timeline, machine: one, heard, say, toTheEnd } = machine()
  const life = one.start()
  life.onDeath(say('death'))
  life.receive(20, say('late answer'))
  void life.clock.sleep(10).then(say('timer'))
  timeline.after(5, () => one.crash())
  timeline.after(6, () => one.start().receive(1, say('second life')))
  await toTheEnd()
  expect(heard).toEqual(['death@5', 'second life@7'])
  expect([life.isAlive, life.name, one.life?.name]).toEqual([false, 'worker-1.1', 'worker-1.2'])
})

test('its clocks: the wall may be wrong and jump, the other counts from its birth; sleep can be cut short', async () => {
  const { timeline, machine: one, heard, say, toTheEnd } = machine()
  timeline.after(10, () => {
    const { clock } = one.start()
    const cut = new AbortController()
    void clock.sleep(50, cut.signal).then(say('cut'))
    void clock.sleep(30).then(() => {
      expect([clock.monotonicMs(), clock.nowMs()]).toEqual([30, 1_000_040])
      one.wall.jump(-500)
      expect([clock.monotonicMs(), clock.nowMs()]).toEqual([30, 999_540])
      cut.abort()
    })
  })
  await toTheEnd()
  expect(heard).toEqual(['cut@40'])
})

test('the time that it stands still is not counted as active; a stall can be ended early', async () => {
  const { timeline, machine: one, heard, say, toTheEnd } = machine()
  const life = one.start()
  timeline.after(10, () => life.stall(100))
  life.receive(20, say('held'))
  timeline.after(30, () => life.wakeUp())
  timeline.after(50, () => expect(life.activeMs).toBe(30))
  await toTheEnd()
  expect(heard).toEqual(['held@30'])
})

test('calls are counted over all lives, of each method by itself', () => {
  const { machine: one } = machine()
  one.start()
  expect([one.called('claim'), one.called('publish'), one.called('claim')]).toEqual([1, 1, 2])
  one.start()
  expect(one.called('claim')).toBe(3)
  expect(one.calls).toBe(4)
})
