/** What happens when, in parts of the whole run. Those that have to outlast a lease (3 s) take at least 4.5 s. */
export interface Scene {
  name: string
  fromS: number
  toS: number
}

/** `weighed`: how much memory each instance takes. */
export type Happening =
  | 'weighed'
  | 'cache-killed'
  | 'cache-back'
  | 'lock-taken'
  | 'lock-released'
  | 'killed'
  | 'replaced'
  | 'paused'
  | 'continued'

const LONG_S = 4.5

/** The scene that can be made longer than its part. */
export const WITHOUT_SHARED = 'shared cache killed'
export const NOT_RENEWED = 'budget not renewed'

export interface Course {
  scenes: Scene[]
  happenings: { atS: number; what: Happening }[]
  /** When the last scene is over: a whole number. */
  endS: number
}

/** `withoutSharedS`: how long the scene without a shared cache lasts; 0: its part of `seconds`, like all others. */
export function courseOf({ seconds, withoutSharedS }: { seconds: number; withoutSharedS: number }): Course {
  const lockS = Math.max(LONG_S, seconds * 0.14)
  const pauseS = Math.max(LONG_S, seconds * 0.1)
  // Whatever the fixed parts leave is divided among the others.
  const part = (seconds - lockS - pauseS) / 10
  const gone = part * 3
  const back = gone + (withoutSharedS || part * 3)
  const lock = back + part * 1.5
  const unlocked = lock + lockS
  const killed = unlocked + part * 0.5
  const paused = killed + part
  const goesOn = paused + pauseS
  const endS = Math.round(goesOn + part)
  return {
    endS,
    scenes: [
      { name: 'all start empty', fromS: 0, toS: gone },
      { name: WITHOUT_SHARED, fromS: gone, toS: back },
      { name: 'shared cache back, empty', fromS: back, toS: lock },
      { name: NOT_RENEWED, fromS: lock, toS: unlocked },
      { name: 'budget renewed again', fromS: unlocked, toS: killed },
      { name: 'one killed', fromS: killed, toS: paused },
      { name: 'another paused', fromS: paused, toS: goesOn },
      { name: 'all go on', fromS: goesOn, toS: endS },
    ],
    happenings: [
      // Before the scene and after it, once its last readers are served: to be weighed an instance stops for some tens of ms.
      { atS: gone - 1.2, what: 'weighed' },
      { atS: gone, what: 'cache-killed' },
      { atS: back, what: 'cache-back' },
      { atS: back + 0.3, what: 'weighed' },
      { atS: lock, what: 'lock-taken' },
      { atS: unlocked, what: 'lock-released' },
      { atS: killed, what: 'killed' },
      { atS: killed + 0.1, what: 'replaced' },
      { atS: paused, what: 'paused' },
      { atS: goesOn, what: 'continued' },
    ],
  }
}
