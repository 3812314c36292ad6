import type { UnusableReason } from './vision.ts'

/**
 * Takes the words out of an answer's envelope, whichever of the two interfaces it came by. Pure, and of things that
 * strangers' servers sent: nothing in them is taken for granted.
 */
export type Reply = { text: string } | { unusable: UnusableReason }

interface Envelope {
  choices?: { message?: { content?: unknown; refusal?: unknown }; finish_reason?: unknown }[]
  output?: { type?: unknown; content?: { type?: unknown; text?: unknown }[] }[]
  status?: unknown
  incomplete_details?: { reason?: unknown } | null
}

const EMPTY: Reply = { unusable: 'empty_answer' }

/** `envelope` is what `openai` made of the body: an object, a text, or nothing. */
export function readReply(envelope: unknown): Reply {
  if (envelope === undefined || envelope === null || envelope === '') return EMPTY
  if (typeof envelope !== 'object') return { unusable: 'malformed_answer' }
  const said = envelope as Envelope
  if (Array.isArray(said.choices)) return ofChat(said.choices[0])
  if (Array.isArray(said.output)) return ofResponse(said)
  return { unusable: 'malformed_answer' }
}

function ofChat(choice: NonNullable<Envelope['choices']>[number] | undefined): Reply {
  if (!choice) return EMPTY
  if (isText(choice.message?.refusal) || choice.finish_reason === 'content_filter')
    return { unusable: 'declined' }
  return ended(textOf(choice.message?.content), choice.finish_reason === 'length')
}

function ofResponse({ output, incomplete_details: incomplete }: Envelope): Reply {
  const parts = output!
    .filter((item) => item?.type === 'message' && Array.isArray(item.content))
    .flatMap((item) => item.content!)
  if (parts.some((part) => part?.type === 'refusal') || incomplete?.reason === 'content_filter')
    return { unusable: 'declined' }
  return ended(textOf(parts), incomplete?.reason === 'max_output_tokens')
}

/**
 * Half an answer is not read: what is missing would look like a smaller meal. A model that has spent its tokens on
 * thoughts has said nothing.
 */
function ended(text: string, isCutShort: boolean): Reply {
  if (text.trim() === '') return EMPTY
  return isCutShort ? { unusable: 'cut_short' } : { text }
}

/** A text, or pieces of one. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content.map((part: { text?: unknown } | null) => (isText(part?.text) ? part.text : '')).join('')
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}
