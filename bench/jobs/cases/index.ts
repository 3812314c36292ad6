import type { Case } from './case.ts'
import { drain, drainTwo, drainWrite } from './drain.ts'
import { latency, latencyInside } from './latency.ts'
import { memory, memoryTight } from './memory.ts'
import { finished, waiting } from './million.ts'
import { submit, submit50, submitMany } from './submit.ts'

/** In the order in which a session runs them; `finished` goes on with the store that `waiting` has filled. */
export const CASES: Case[] = [
  submit,
  submit50,
  submitMany,
  drain,
  drainTwo,
  drainWrite,
  latency,
  latencyInside,
  memory,
  memoryTight,
  waiting,
  finished,
]

/** The case that only the raw limits have: what is not the yardstick of another case. */
export const LIMITS_CASE = 'limits'
