/**
 * Finds the JSON object in what a model wrote: alone, in a Markdown fence, after its thoughts, between sentences. Pure.
 * `hasNotFinite`: it wrote NaN or Infinity, which JSON has not; they are read as null.
 */
export interface Found {
  value: Record<string, unknown>
  hasNotFinite: boolean
}

/** 200,000 characters and 50 braces: an answer of 20 items has under 10,000 and begins with its brace. */
const TEXT_MAX = 200_000
const STARTS_MAX = 50

export function findJson(said: string): Found | null {
  const text = unfenced(withoutThoughts(said.slice(0, TEXT_MAX))).trim()
  const whole = parse(text)
  // A list or a bare text at the top is not what was asked for; what it holds is not fished out of it.
  if (whole !== undefined) return isObject(whole.value) ? (whole as Found) : null
  let first: Found | null = null
  let starts = 0
  for (let at = nextStart(text, 0); at !== -1 && starts < STARTS_MAX; starts++) {
    const end = endOf(text, at)
    const found = end === -1 ? undefined : parse(text.slice(at, end))
    if (found && isObject(found.value)) {
      if ('items' in found.value || 'description' in found.value) return found as Found
      first ??= found as Found
    }
    at = nextStart(text, found ? end : at + 1)
  }
  return first
}

/** What stands after the last closing tag; of thoughts that never end, nothing is left. */
function withoutThoughts(text: string): string {
  const end = text.lastIndexOf('</think>')
  if (end !== -1) return text.slice(end + '</think>'.length)
  return text.replace(/^\s*<think>[\s\S]*$/, '')
}

function unfenced(text: string): string {
  return /^\s*```[a-zA-Z]*\s*\n([\s\S]*?)\n?\s*```\s*$/.exec(text)?.[1] ?? text
}

function nextStart(text: string, from: number): number {
  for (let at = from; at < text.length; at++) if (text[at] === '{' || text[at] === '[') return at
  return -1
}

/** Just after the bracket that closes the one at `at`; -1 when none does. Brackets in strings do not count. */
function endOf(text: string, at: number): number {
  let depth = 0
  let isInString = false
  for (let i = at; i < text.length; i++) {
    const c = text[i]
    if (isInString) {
      if (c === '\\') i++
      else if (c === '"') isInString = false
    } else if (c === '"') isInString = true
    else if (c === '{' || c === '[') depth++
    else if ((c === '}' || c === ']') && --depth === 0) return i + 1
  }
  return -1
}

function parse(text: string): { value: unknown; hasNotFinite: boolean } | undefined {
  try {
    return { value: JSON.parse(text), hasNotFinite: false }
  } catch {
    // Perhaps only for a word that other languages write.
  }
  let hasNotFinite = false
  const repaired = text.replace(/"[^"\\]*(?:\\.[^"\\]*)*"|[-+]?\b(?:NaN|Infinity)\b/g, (token) => {
    if (token.startsWith('"')) return token
    hasNotFinite = true
    return 'null'
  })
  if (!hasNotFinite) return undefined
  try {
    return { value: JSON.parse(repaired), hasNotFinite }
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
