import { expect, test } from 'vitest'
import { generate } from './generate.ts'
import type { Command, Fault, Plan } from './plan.ts'
import { scheduleOf, shrink } from './shrink.ts'

/** A plan with much in it. */
function bigPlan(): Plan {
  let seed = 1
  while (generate(seed).commands.length < 12 || generate(seed).faults.length < 8) seed++
  return generate(seed)
}

test('what is left is what the failure needs, and nothing else', async () => {
  const plan = bigPlan()
  const [command, fault] = [plan.commands.at(-3)!, plan.faults.at(2)!]
  const needs = async ({ commands, faults }: { commands: Command[]; faults: Fault[] }) =>
    commands.some(({ atMs, do: what }) => atMs === command.atMs && what === command.do) &&
    faults.includes(fault)
  const smallest = await shrink(plan, needs)
  expect(smallest.commands).toHaveLength(1)
  expect(smallest.faults).toEqual([fault])
  expect(smallest.workers).toHaveLength(1)
  expect(scheduleOf(smallest).length).toBeLessThan(12)
})

test('a failure that needs everything keeps it', async () => {
  const plan = bigPlan()
  const size = (one: Plan) => JSON.stringify([one.commands, one.faults, one.workers, one.hints, one.latency])
  expect(await shrink(plan, async (smaller) => size(smaller) === size(plan))).toEqual(plan)
})

test('it stops when its runs are spent', async () => {
  let runs = 0
  await shrink(bigPlan(), async () => ++runs % 2 === 0, 25)
  expect(runs).toBe(25)
})
