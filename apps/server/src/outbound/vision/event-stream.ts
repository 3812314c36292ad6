/**
 * Some servers stream although nobody asked for it. The whole stream is there (exchange.ts reads to its end); this puts
 * the pieces of its text together into the one answer that was asked for. Pure.
 * Shape: JSON text of a chat completion or a response; empty when the stream holds neither.
 */
export function assembled(stream: string): string {
  let text = ''
  let finish: unknown = null
  let isChat = false
  for (const event of eventsOf(stream)) {
    if (event['type'] === 'response.completed' || event['type'] === 'response.incomplete')
      return JSON.stringify(event['response'] ?? null)
    const choice = (event['choices'] as Choice[] | undefined)?.[0]
    if (!choice) continue
    isChat = true
    if (typeof choice.delta?.content === 'string') text += choice.delta.content
    finish = choice.finish_reason ?? finish
  }
  if (!isChat) return ''
  return JSON.stringify({
    choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: finish }],
  })
}

interface Choice {
  delta?: { content?: unknown }
  finish_reason?: unknown
}

function* eventsOf(stream: string): Generator<Record<string, unknown>> {
  for (const line of stream.split(/\r?\n/)) {
    const data = line.startsWith('data:') ? line.slice(5).trim() : ''
    if (!data.startsWith('{')) continue
    try {
      yield JSON.parse(data)
    } catch {
      // A broken piece is left out: what is missing shows when the text is read.
    }
  }
}
