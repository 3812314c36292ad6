/**
 * `?` placeholders as the `$1`, `$2`, … of PostgreSQL. `??` is a question mark itself (an operator of jsonb); those in
 * strings, names and comments stay as they are. A text with no placeholder comes back unchanged, so `$1` may be
 * written by hand. Pure.
 */
export function numbered(sql: string): string {
  let count = 0
  return sql.replace(TOKEN, (token) => {
    if (token === '??') return '?'
    if (token !== '?') return token
    count++
    return `$${count}`
  })
}

/** A string (with backslash escapes after E), a name, a dollar-quoted text, a comment, or what is looked for. */
const TOKEN = new RegExp(
  [
    /\bE'(?:[^'\\]|''|\\.)*'/,
    /'(?:[^']|'')*'/,
    /"(?:[^"]|"")*"/,
    /(\$\w*\$).*?\1/,
    /--[^\n]*/,
    /\/\*.*?\*\//,
    /\?\?|\?/,
  ]
    .map((one) => one.source)
    .join('|'),
  'gis',
)
