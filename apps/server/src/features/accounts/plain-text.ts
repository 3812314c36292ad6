import { badRequest } from '../../problem.ts'

/** Control characters, and the marks that turn the writing direction around and so can disguise a name. */
const NOT_PLAIN = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u

/**
 * A name as it is stored: plain text of 1 to 80 characters without blanks around it.
 * Errors: 400 naming `path`.
 */
export function plainName(text: string, path = 'name'): string {
  const name = text.normalize('NFC').trim()
  if (name === '' || [...name].length > 80 || NOT_PLAIN.test(name)) {
    throw badRequest('The name must be plain text of 1 to 80 characters.', [
      { path, message: 'must be plain text of 1 to 80 characters' },
    ])
  }
  return name
}
