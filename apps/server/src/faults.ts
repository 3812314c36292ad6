import type { Around, Clock } from '@garner/db'

/**
 * Faults put in on purpose, in demo mode, to see what Garner promises hold: `GARNER_FAULT=POINT:ACTION[@N][,…]`.
 * Each point is a seam in the real code, named after what has and what has not happened there.
 */
export const FAULT_POINTS = {
  'submit.before-commit':
    'a save (a link, a photo) has written its row and its job, and the transaction is not committed',
  'submit.after-commit': 'a save is durable, and its answer is not sent',
  'claim.after-commit': 'jobs are claimed, and the worker has not started them',
  'fetch.after-response': 'a page has been fetched, and nothing of it is stored',
  'publish.before-commit': 'a result is written and the job ended, and the transaction is not committed',
  'publish.after-commit': 'a result is durable, and the worker has not heard of it',
  'account.read': 'the database is asked who someone is and what they may see',
  'commit.sync': 'the commit of a batch of transactions, with its sync to disk',
  'origin.read': 'a list is read from the database',
  'budget.renew': 'a share of the budget for reading lists is about to be renewed',
  'purge.after-queue': "an account's jobs are gone, and the rest of it is still there",
  'purge.after-photos': "an account's photos are gone too, and its rows are still there",
  'photo.after-write': 'a photo is on disk, and its row is not',
  'allowance.reserve': 'a paid use is about to be set aside',
  'vision.before-call': 'a use is set aside, and the vision model has not been called',
  'vision.after-response': 'a description has come, and is not stored',
  'vision.after-settled': 'a paid description is stored, and its meal is not',
} as const

export type FaultPoint = keyof typeof FAULT_POINTS

type Action = { do: 'kill' | 'fail' | 'hang' | 'land-then-fail' } | { do: 'delay'; ms: number }

interface Fault {
  action: Action
  /** Only the Nth time; undefined for every time. */
  at: number | undefined
}

/** What a fault that says `fail` throws. Treated as the database or the site being out of order. */
export class InjectedFault extends Error {
  readonly code = 'INJECTED_FAULT'
  readonly point: string
  constructor(point: string) {
    super(`Injected fault at ${point}.`)
    this.name = 'InjectedFault'
    this.point = point
  }
}

/** Errors: one sentence about what is wrong with `text`, for the operator. */
export function parseFaults(text: string): Map<string, Fault[]> | { expected: string } {
  const faults = new Map<string, Fault[]>()
  for (const part of text.split(',').filter((one) => one.trim() !== '')) {
    const match = /^\s*([a-z.-]+):([a-z-]+)(?:=(\d+))?(?:@(\d+))?\s*$/.exec(part)
    const [, point = '', word = '', ms, at] = match ?? []
    if (!Object.hasOwn(FAULT_POINTS, point))
      return { expected: `POINT:ACTION; \`garner faults\` lists the points (${part})` }
    const action = actionOf(word, ms)
    // @0 would never strike, and whoever asked for it would take the silence for a pass.
    if (!action || Number(at) === 0)
      return {
        expected: `kill, fail, hang, delay=MS or land-then-fail, with an optional @N from 1 (${part})`,
      }
    const list = faults.get(point) ?? []
    list.push({ action, at: at === undefined ? undefined : Number(at) })
    faults.set(point, list)
  }
  return faults
}

function actionOf(word: string, ms: string | undefined): Action | null {
  if (word === 'delay') return ms === undefined ? null : { do: 'delay', ms: Number(ms) }
  if (ms !== undefined) return null
  return word === 'kill' || word === 'fail' || word === 'hang' || word === 'land-then-fail'
    ? { do: word }
    : null
}

/**
 * `around(point, effect)` runs the effect as the configured faults let it. Without faults it is a plain call.
 * At a point called `…after-…` the effect has happened when the fault strikes; at any other it has not, unless the
 * action says so (`land-then-fail`).
 * @param error what `fail` and `land-then-fail` throw
 */
export function createAround(text: string, clock: Clock, error: (point: string) => Error): Around {
  const faults = parseFaults(text)
  if (!(faults instanceof Map) || faults.size === 0) return async (_point, effect) => effect()
  const counts = new Map<string, number>()
  return async (point, effect) => {
    const due = dueFaults(faults, counts, point)
    const strike = async () => {
      for (const { action } of due) {
        if (action.do === 'kill') process.kill(process.pid, 'SIGKILL')
        if (action.do === 'hang' || action.do === 'kill') await new Promise(() => {})
        if (action.do === 'delay') await clock.sleep(action.ms)
        if (action.do === 'fail') throw error(point)
      }
    }
    const isAfter = point.includes('.after-')
    if (!isAfter) await strike()
    const value = await effect()
    if (isAfter) await strike()
    if (due.some(({ action }) => action.do === 'land-then-fail')) throw error(point)
    return value
  }
}

/**
 * The same for the one effect that must not give up the thread: a commit and its sync. A slow disk holds the
 * process as fsync would, so `delay` blocks; everything else is as above.
 */
export function createAroundCommit(
  text: string,
  error: (point: string) => Error,
): (effect: () => void) => void | Promise<void> {
  const faults = parseFaults(text)
  if (!(faults instanceof Map) || !faults.has('commit.sync')) return (effect) => effect()
  const counts = new Map<string, number>()
  const sleeper = new Int32Array(new SharedArrayBuffer(4))
  return (effect) => {
    const due = dueFaults(faults, counts, 'commit.sync')
    for (const { action } of due) {
      if (action.do === 'kill') process.kill(process.pid, 'SIGKILL')
      if (action.do === 'hang' || action.do === 'kill') return new Promise(() => {})
      if (action.do === 'delay') Atomics.wait(sleeper, 0, 0, action.ms)
      if (action.do === 'fail') throw error('commit.sync')
    }
    effect()
    if (due.some(({ action }) => action.do === 'land-then-fail')) throw error('commit.sync')
  }
}

function dueFaults(faults: Map<string, Fault[]>, counts: Map<string, number>, point: string): Fault[] {
  const time = (counts.get(point) ?? 0) + 1
  counts.set(point, time)
  return (faults.get(point) ?? []).filter(({ at }) => at === undefined || at === time)
}
