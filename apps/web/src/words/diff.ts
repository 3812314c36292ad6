/** A piece of text, and whether the other version has it too. */
export interface Piece {
  text: string
  changed: boolean
}

/** Beyond this many words on a side the comparison is by the ends only: it is for notes, not for books. */
const WORDS_MAX = 600

/** `text` in pieces, with the words that `other` does not have at that place marked as changed. */
export function changedWords(text: string, other: string): Piece[] {
  const mine = words(text)
  const theirs = words(other)
  const kept = keptWords(mine, theirs)
  const pieces: Piece[] = []
  mine.forEach((word, i) => {
    const changed = !kept.has(i) && word.trim() !== ''
    const last = pieces.at(-1)
    if (last && last.changed === changed) last.text += word
    else pieces.push({ text: word, changed })
  })
  return pieces
}

/** Words, the spaces between them, and marks that end a sentence, so that `Tuesday.` differs from `Thursday.` by a word. */
function words(text: string): string[] {
  return text.match(/\s+|[\p{L}\p{N}\p{M}_'’-]+|[^\s\p{L}\p{N}\p{M}_'’-]+/gu) ?? []
}

/** The places in `mine` that a longest common subsequence with `theirs` keeps. */
function keptWords(mine: string[], theirs: string[]): Set<number> {
  const kept = new Set<number>()
  let start = 0
  while (start < mine.length && start < theirs.length && mine[start] === theirs[start]) kept.add(start++)
  let end = 0
  while (
    end < mine.length - start &&
    end < theirs.length - start &&
    mine[mine.length - 1 - end] === theirs[theirs.length - 1 - end]
  ) {
    kept.add(mine.length - 1 - end)
    end += 1
  }
  const a = mine.slice(start, mine.length - end)
  const b = theirs.slice(start, theirs.length - end)
  if (a.length === 0 || b.length === 0 || a.length > WORDS_MAX || b.length > WORDS_MAX) return kept

  const width = b.length + 1
  const longest = new Uint16Array((a.length + 1) * width)
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      longest[i * width + j] =
        a[i] === b[j]
          ? longest[(i + 1) * width + j + 1]! + 1
          : Math.max(longest[(i + 1) * width + j]!, longest[i * width + j + 1]!)
    }
  }
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (a[i] === b[j]) {
      kept.add(start + i)
      i += 1
      j += 1
    } else if (longest[(i + 1) * width + j]! >= longest[i * width + j + 1]!) i += 1
    else j += 1
  }
  return kept
}

/** Both versions in one text that a person can then tidy: one that holds the other stands for both. */
export function bothTogether(theirs: string, mine: string): string {
  if (mine.includes(theirs)) return mine
  if (theirs.includes(mine)) return theirs
  return `${theirs.trimEnd()}\n${mine.trimStart()}`
}
