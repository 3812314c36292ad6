/**
 * The statements of a SQL file: cut at semicolons that are not inside a string, a name or a comment. SQLite's
 * `prepare` runs the first statement of a text and silently drops the rest, so a cut that is missed would leave a
 * migration applied by half and recorded as whole. Triggers with bodies are not understood; we have none. Pure.
 */
export function statementsOf(sql: string): string[] {
  const statements: string[] = []
  let text = ''
  let hasContent = false
  const end = () => {
    if (hasContent) statements.push(text.trim())
    text = ''
    hasContent = false
  }
  for (const [token] of sql.matchAll(TOKEN)) {
    if (token === ';') {
      end()
      continue
    }
    text += token
    const isComment = token.startsWith('--') || token.startsWith('/*')
    if (!isComment && token.trim() !== '') hasContent = true
  }
  end()
  return statements
}

/**
 * A quoted string or name (a doubled quote is part of it), a dollar-quoted text (PostgreSQL's function bodies), a comment,
 * a semicolon, or anything else.
 */
const TOKEN = /'(?:[^']|'')*'|"(?:[^"]|"")*"|(\$\w*\$).*?\1|--[^\n]*|\/\*.*?\*\/|;|[^'"\-/;$]+|./gs
