import type { OriginBudget } from './budget.ts'
import type { Deadlines } from './deadlines.ts'
import { LoadTimedOut } from './errors.ts'

export interface LoadContext {
  /**
   * What is read has to have seen this version. A replica that has not reached it is no use: ask the primary, or answer
   * what there is, and those who need more are refused.
   */
  minVersion: number
  /** Aborts at the load's deadline. Hand it to the query. */
  signal: AbortSignal
}

export interface Loaded<Body> {
  body: Body
  /** Of what was read: a whole number, 0 or more, that grows with every change. Default 0, for data without versions. */
  version?: number
}

export type Load<Body> = (context: LoadContext) => Promise<Loaded<Body>>

/** A load whose signal was aborted has this long to end before its place in the budget is given to another. */
export const GRACE_MS = 500

/**
 * Runs loads that the budget has let through, each within its own deadline: who waits for it, or whether anyone still
 * does, makes no difference.
 *
 * A load's place in the budget is held until its promise settles, since as long it may still be at the origin; one that
 * ignores its signal loses it `GRACE_MS` after the deadline.
 */
export class Loader {
  readonly #budget: OriginBudget
  readonly #deadlines: Deadlines
  readonly #loadMs: number

  /** Errors: RangeError when a load could outlive what the ledger counts with. */
  constructor({ budget, deadlines, loadMs }: { budget: OriginBudget; deadlines: Deadlines; loadMs: number }) {
    if (loadMs + GRACE_MS > budget.capacity.loadMaxMs)
      throw new RangeError(
        `loadMs=${loadMs}: expected at most loadMaxMs - ${GRACE_MS} = ${budget.capacity.loadMaxMs - GRACE_MS}`,
      )
    this.#budget = budget
    this.#deadlines = deadlines
    this.#loadMs = loadMs
  }

  /** To be called in the tick in which the budget let it through. Errors: LoadTimedOut; what the load threw. */
  run<Body>(load: Load<Body>, minVersion: number): Promise<Loaded<Body>> {
    const stop = new AbortController()
    return new Promise((resolve, reject) => {
      let isOver = false
      const over = () => {
        if (!isOver) this.#budget.end()
        isOver = true
        deadline.drop()
      }
      const deadline = this.#deadlines.in(this.#loadMs, () => {
        const error = new LoadTimedOut(this.#loadMs, this.#loadMs)
        stop.abort(error)
        reject(error)
        this.#deadlines.in(GRACE_MS, over)
      })
      started(load, { minVersion, signal: stop.signal })
        .finally(over)
        .then((loaded) => resolve(checked(loaded)))
        .catch(reject)
    })
  }
}

/** Calls it now; what it throws at once is a rejection like any other. */
async function started<Body>(load: Load<Body>, context: LoadContext): Promise<Loaded<Body>> {
  return load(context)
}

function checked<Body>(loaded: Loaded<Body>): Loaded<Body> {
  const { version = 0 } = loaded
  if (Number.isSafeInteger(version) && version >= 0) return loaded
  throw new RangeError(`A load answered version ${version}; expected a whole number, 0 or more.`)
}
