/** One event of a text/event-stream, as the HTML standard's section 9.2.6 reads it. */
export interface StreamEvent {
  event: string
  data: string
}

/**
 * Reads an event stream piece by piece. Comments (keep-alives) and events without data give nothing; a piece may end
 * anywhere, also between the two characters of a line end. What the stream breaks off in the middle of is dropped.
 */
export class StreamParser {
  #rest = ''
  #event = ''
  #data: string[] = []
  #start = true

  push(piece: string): StreamEvent[] {
    let text = this.#rest + piece
    if (this.#start && text !== '') {
      this.#start = false
      if (text.startsWith('\uFEFF')) text = text.slice(1)
    }
    const events: StreamEvent[] = []
    let from = 0
    for (;;) {
      const end = lineEnd(text, from)
      if (end === null) break
      const done = this.#line(text.slice(from, end.at))
      if (done) events.push(done)
      from = end.next
    }
    this.#rest = text.slice(from)
    return events
  }

  #line(line: string): StreamEvent | null {
    if (line === '') {
      const event = this.#event || 'message'
      const data = this.#data
      this.#event = ''
      this.#data = []
      return data.length === 0 ? null : { event, data: data.join('\n') }
    }
    const colon = line.indexOf(':')
    if (colon === 0) return null
    const field = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (field === 'event') this.#event = value
    else if (field === 'data') this.#data.push(value)
    return null
  }
}

/** A lone CR at the very end may be the first half of CRLF, so it waits for the next piece. */
function lineEnd(text: string, from: number): { at: number; next: number } | null {
  for (let i = from; i < text.length; i += 1) {
    const code = text.charCodeAt(i)
    if (code === 10) return { at: i, next: i + 1 }
    if (code === 13) {
      if (i + 1 === text.length) return null
      return { at: i, next: text.charCodeAt(i + 1) === 10 ? i + 2 : i + 1 }
    }
  }
  return null
}
