import { expect, test } from 'vitest'
import { generate } from './generate.ts'
import type { Plan } from './plan.ts'
import { scheduleOf, shrink } from './shrink.ts'

/** A plan with much in it. */
function bigPlan(): Plan {
  let seed = 1
  while (generate(seed).commands.length < 30 || generate(seed).faults.length < 8) seed++
  return generate(seed)
}

test('what is left is what the failure needs, and nothing else', async () => {
  const plan = bigPlan()
  const command = plan.commands.find((one) => one.do === 'flood')!
  const fault = plan.faults.at(2)!
  const needs = async ({ commands, faults }: Plan) =>
    commands.some(({ id }) => id === command.id) && faults.includes(fault)
  const smallest = await shrink(plan, needs)
  expect(smallest.commands).toEqual([{ ...command, count: 1 }])
  expect(smallest.faults).toEqual([fault])
  expect(smallest.instances).toHaveLength(1)
  expect(scheduleOf(smallest)).toHaveLength(4)
})
