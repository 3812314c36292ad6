/** How an address is shown, and which addresses may be shown as links at all. */

/** The address when a browser may open it from here, else null: only http and https, whatever a list contains. */
export function safeHref(address: string): string | null {
  const url = parsed(address)
  return url && (url.protocol === 'http:' || url.protocol === 'https:') && url.host !== '' ? address : null
}

/** A link out of what somebody pasted or typed: the whole text, or nothing. */
export function linkIn(text: string): string | null {
  const trimmed = text.trim()
  return /^https?:\/\/\S+$/i.test(trimmed) && trimmed.length <= 2048 ? safeHref(trimmed) : null
}

/** `rfc-editor.org`, without the www that says nothing. */
export function hostOf(address: string): string {
  return (parsed(address)?.host ?? address).replace(/^www\./, '')
}

/** Where there is no title: host and path, split where a narrow screen may break the line. */
export function bareParts(address: string): { host: string; path: string } {
  const url = parsed(address)
  if (!url) return { host: address, path: '' }
  const path = `${url.pathname}${url.search}`
  return { host: hostOf(address), path: path === '/' ? '' : readable(path) }
}

export function bare(address: string): string {
  const { host, path } = bareParts(address)
  return host + path
}

/** A hue of 0 to 359 that stays the same for the same text, so people and sites are recognised by colour too. */
export function hueOf(text: string): number {
  let hash = 2166136261
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 16777619)
  return (hash >>> 0) % 360
}

/** The first letter or digit, upper case; a dot where there is none. */
export function initialOf(text: string): string {
  return /[\p{L}\p{N}]/u.exec(text)?.[0]?.toUpperCase() ?? '·'
}

function parsed(address: string): URL | null {
  return URL.parse(address)
}

/** Percent signs become letters where that is safe to read; a broken escape is shown as it came. */
function readable(path: string): string {
  try {
    // Control and direction marks stay escaped: they could make an address look like another.
    return decodeURI(path).replace(/[\p{C}\p{Z}]/gu, encodeURIComponent)
  } catch {
    return path
  }
}
