/** A promise that counts something, and what was counted. One that is broken makes the demonstration fail. */
export interface Verdict {
  claim: string
  found: string
  isKept: boolean
}

/** Something measured beside what it should be. It is the machine's as much as Garner's: one that is missed fails nothing. */
export interface Figure {
  what: string
  found: string
  target: string
  /** null: it cannot be measured here. */
  isMet: boolean | null
}

/** All of them as lines, and the exit code: 1 when a promise was broken. */
export function judged(verdicts: Verdict[], figures: Figure[]): { lines: string[]; code: 0 | 1 } {
  const isKept = verdicts.every((one) => one.isKept)
  return {
    lines: [
      'What was counted; it alone decides about the verdict:',
      ...verdicts.map(({ claim, found, isKept }) => `${isKept ? 'kept  ' : 'BROKEN'}  ${claim}: ${found}`),
      '',
      'What was measured; a slower machine, or one with more to do, measures more:',
      ...figures.map(
        ({ what, found, target, isMet }) => `${MET(isMet)}  ${what}: ${found}; target: ${target}`,
      ),
      '',
      isKept ? 'Everything was kept.' : 'A promise was broken.',
    ],
    code: isKept ? 0 : 1,
  }
}

const MET = (isMet: boolean | null) => (isMet === null ? '-     ' : isMet ? 'met   ' : 'missed')
