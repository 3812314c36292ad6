/** What happens when, in parts of the whole run. Those that have to outlast a lease (3 s) take at least 4.5 s. */
export interface Scene {
  name: string
  fromS: number
  toS: number
}

export type Happening =
  | 'cache-killed'
  | 'cache-back'
  | 'lock-taken'
  | 'lock-released'
  | 'killed'
  | 'replaced'
  | 'paused'
  | 'continued'

const LONG_S = 4.5

export function scenesOf(seconds: number): {
  scenes: Scene[]
  happenings: { atS: number; what: Happening }[]
} {
  const lockS = Math.max(LONG_S, seconds * 0.14)
  const pauseS = Math.max(LONG_S, seconds * 0.1)
  // Whatever the fixed parts leave is divided among the others.
  const part = (seconds - lockS - pauseS) / 10
  const at = { gone: part * 3, back: part * 6, lock: part * 7.5, killed: part * 8 + lockS }
  const unlocked = at.lock + lockS
  const paused = part * 9 + lockS
  const goesOn = paused + pauseS
  return {
    scenes: [
      { name: 'all start empty', fromS: 0, toS: at.gone },
      { name: 'shared cache killed', fromS: at.gone, toS: at.back },
      { name: 'shared cache back, empty', fromS: at.back, toS: at.lock },
      { name: 'budget not renewed', fromS: at.lock, toS: unlocked },
      { name: 'budget renewed again', fromS: unlocked, toS: at.killed },
      { name: 'one killed', fromS: at.killed, toS: paused },
      { name: 'another paused', fromS: paused, toS: goesOn },
      { name: 'all go on', fromS: goesOn, toS: seconds },
    ],
    happenings: [
      { atS: at.gone, what: 'cache-killed' },
      { atS: at.back, what: 'cache-back' },
      { atS: at.lock, what: 'lock-taken' },
      { atS: unlocked, what: 'lock-released' },
      { atS: at.killed, what: 'killed' },
      { atS: at.killed + 0.1, what: 'replaced' },
      { atS: paused, what: 'paused' },
      { atS: goesOn, what: 'continued' },
    ],
  }
}
