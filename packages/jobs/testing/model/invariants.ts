import { expect } from 'vitest'
import { type Job, type JobState, PENDING_STATES, TRANSITIONS } from '../../src/job.ts'
import { type Command, KEYS, KINDS } from './commands.ts'
import type { Details, Overview } from './seat.ts'

/** What may never be broken, whatever is done. Looks at one store; the others show the same. */
export function assertInvariants(before: Overview, after: Overview, command: Command): void {
  const now = new Map(after.jobs.map((one) => [one.id, one]))
  for (const old of before.jobs) {
    const found = now.get(old.id)
    if (found) assertTransition(old, found, command)
    else assertMayGo(old, command)
  }
  for (const one of after.jobs) {
    expect(one.leaseUntilMs !== null).toBe(one.state === 'running')
    expect(one.finishedAtMs !== null).toBe(!PENDING_STATES.includes(one.state))
  }
  assertLimits(after)
  for (const { used, reserved, unknown } of after.allowances) {
    expect(Math.min(used, reserved, unknown)).toBeGreaterThanOrEqual(0)
  }
}

/** A repair of a job that has ended and is claimed again passes through states between two looks; none here does. */
function assertTransition(before: Job, after: Job, command: Command): void {
  expect(after.epoch).toBeGreaterThanOrEqual(before.epoch)
  expect(after.generation).toBeGreaterThanOrEqual(before.generation)
  if (after.generation === before.generation) expect(after.rank).toBeGreaterThanOrEqual(before.rank)
  if (before.state === after.state) return
  const isAllowed = (from: JobState, to: JobState) => TRANSITIONS[from].includes(to)
  expect(isAllowed(before.state, after.state), `${before.state} → ${after.state} by ${command.do}`).toBe(true)
}

/** Nothing that was accepted is lost: what is gone was forgotten, or had ended and was pruned. */
function assertMayGo(job: Job, command: Command): void {
  if (command.do === 'forget') expect(job.subject).toBe(command.subject)
  else if (command.do === 'prune') expect([...PENDING_STATES, 'dead']).not.toContain(job.state)
  else {
    expect(command.do).toBe('forgetTenant')
    expect([...PENDING_STATES, 'dead']).toContain(job.state)
  }
}

function assertLimits({ jobs }: Overview): void {
  const running = jobs.filter((one) => one.state === 'running')
  for (const { kind, perKey = Infinity, concurrency = Infinity } of KINDS) {
    const ofKind = running.filter((one) => one.kind === kind)
    expect(ofKind.length).toBeLessThanOrEqual(concurrency)
    for (const key of KEYS) {
      expect(ofKind.filter((one) => one.key === key).length).toBeLessThanOrEqual(perKey)
    }
  }
}

/** The starts of one key, as far as its jobs are still there, are as far apart as they have to be. */
export function assertSpacing({ jobs }: Overview, { attempts }: Details): void {
  for (const { kind, spacingMs = 0 } of KINDS) {
    for (const key of KEYS) {
      const starts = jobs
        .flatMap((one, n) => (one.kind === kind && one.key === key ? attempts[n]! : []))
        .map((one) => one.startedAtMs)
        .sort((a, b) => a - b)
      for (const [n, start] of starts.slice(1).entries()) {
        expect(start - starts[n]!).toBeGreaterThanOrEqual(spacingMs)
      }
    }
  }
}
