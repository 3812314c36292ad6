/** What people type, made safe to store: no control characters, no direction overrides, no blank ends. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is removed
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g
/** Overrides and embeddings that would turn the rest of a row around; the plain marks LRM and RLM stay. */
const BIDI = /[\u202a-\u202e\u2066-\u2069]/g
/** Invisible: a title of nothing else would be a row that nobody can see or click. */
const INVISIBLE_ONLY = /^[\s\u00ad\u200b-\u200f\u2060\ufeff]*$/

/** One line: runs of white space become one space. Empty when nothing of it can be seen. */
export function cleanLine(text: string): string {
  const line = text.toWellFormed().replace(CONTROL, '').replace(BIDI, '').replace(/\s+/g, ' ').trim()
  return INVISIBLE_ONLY.test(line) ? '' : line
}

/** Several lines, kept as lines. */
export function cleanText(text: string): string {
  const lines = text.toWellFormed().replace(CONTROL, '').replace(BIDI, '').replace(/\r\n?/g, '\n').trim()
  return INVISIBLE_ONLY.test(lines) ? '' : lines
}
