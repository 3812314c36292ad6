/**
 * Which texts are links that can be saved. The stored address is byte for byte what the member gave (white space
 * around it is not part of an address and is left off, since it comes along with every copy and share); it is
 * never re-written into the form that the URL parser prefers, because sites compare signatures and spellings.
 * Only http and https pass: a stored javascript: link would run in the browser of whoever clicks it.
 */
export type CheckedUrl = { ok: true; url: string } | { ok: false; message: string }

/** In characters (code points). 2048: what browsers, mail programs and proxies handle without trouble. */
export const URL_MAX = 2048

export function checkSavedUrl(text: string): CheckedUrl {
  const url = text.replace(/^[ \t\r\n\f]+|[ \t\r\n\f]+$/g, '')
  if (url === '') return no('Give the address of a page, such as https://example.com/article.')
  if (url.length > URL_MAX && [...url].length > URL_MAX) {
    return no(`The address is longer than ${URL_MAX} characters.`)
  }
  // The URL parser drops line breaks and control characters silently: "java\nscript:" would pass for a scheme.
  if (/\p{Cc}/u.test(url)) return no('The address contains a line break or another control character.')
  if (!url.isWellFormed()) return no('The address contains half a character (a lone surrogate).')
  const authority = /^https?:\/\/([^/?#\\]*)/i.exec(url)?.[1]
  if (authority === undefined) return no('Only addresses that start with http:// or https:// can be saved.')
  if (authority.includes('@')) {
    return no(
      'The address contains a user name or password; everyone in the group would see it. Leave it out.',
    )
  }
  if (authority === '' || !URL.parse(url)?.hostname) {
    return no('The address has no valid host name.')
  }
  return { ok: true, url }
}

function no(message: string): CheckedUrl {
  return { ok: false, message }
}
