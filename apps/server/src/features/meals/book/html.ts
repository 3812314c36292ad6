/**
 * HTML whose holes are escaped, whatever is put into them: there is no way to write a text unescaped by forgetting
 * something. Assumes that holes stand in text or in quoted attributes, never in a script, a style or a bare attribute.
 */
export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

type Hole = string | number | Html | Html[] | null | false

/** `html\`<p title="${text}">${list}</p>\``: texts are escaped, Html is taken as it is, null and false are nothing. */
export function html(strings: TemplateStringsArray, ...holes: Hole[]): Html {
  return new Html(strings.reduce((text, next, n) => text + filled(holes[n - 1] ?? null) + next))
}

function filled(hole: Hole): string {
  if (hole === null || hole === false) return ''
  if (hole instanceof Html) return hole.text
  if (Array.isArray(hole)) return hole.map((one) => one.text).join('')
  return escaped(String(hole))
}

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => ENTITIES[sign]!)
}
