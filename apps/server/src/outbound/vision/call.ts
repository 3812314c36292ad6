import type OpenAI from 'openai'
import type { Dialect } from './dialect.ts'
import { type Question, shapeInWords } from './prompt.ts'

/** The bodies of the two interfaces, in the dialect that the endpoint takes. Pure. */
export interface Ask {
  model: string
  question: Question
  picture: Uint8Array
}

/**
 * 8,192: twenty items need about 2,000 tokens, and models that think first may think some thousands. Without a limit
 * a model that repeats itself is billed until its own end. No temperature is said: newer models refuse it.
 */
const TOKENS_MAX = 8_192

export function responseBody(
  { model, question, picture }: Ask,
  { format, hasTokenLimit }: Dialect,
): OpenAI.Responses.ResponseCreateParamsNonStreaming {
  return {
    model,
    background: true,
    instructions: instructionsOf(question, format),
    input: [
      {
        role: 'user',
        content: [
          { type: 'input_text', text: question.text },
          { type: 'input_image', detail: 'auto', image_url: dataUrl(picture) },
        ],
      },
    ],
    ...(format === 'json_schema' && {
      text: {
        format: { type: 'json_schema', name: question.name, strict: true, schema: question.schema },
      },
    }),
    ...(format === 'json_object' && { text: { format: { type: 'json_object' } } }),
    ...(hasTokenLimit && { max_output_tokens: TOKENS_MAX }),
  }
}

export function chatBody(
  { model, question, picture }: Ask,
  { format, hasTokenLimit }: Dialect,
): OpenAI.Chat.ChatCompletionCreateParamsNonStreaming {
  return {
    model,
    messages: [
      { role: 'system', content: instructionsOf(question, format) },
      {
        role: 'user',
        content: [
          { type: 'text', text: question.text },
          { type: 'image_url', image_url: { url: dataUrl(picture) } },
        ],
      },
    ],
    ...(format === 'json_schema' && {
      response_format: {
        type: 'json_schema',
        json_schema: { name: question.name, strict: true, schema: question.schema },
      },
    }),
    ...(format === 'json_object' && { response_format: { type: 'json_object' } }),
    ...(hasTokenLimit && { max_completion_tokens: TOKENS_MAX }),
  }
}

function instructionsOf(question: Question, format: Dialect['format']): string {
  return format === 'json_schema'
    ? question.instructions
    : `${question.instructions}\n${shapeInWords(question)}`
}

/** Inline, never an address: the provider need not reach Garner, and nobody else may. */
function dataUrl(picture: Uint8Array): string {
  return `data:image/jpeg;base64,${Buffer.from(picture).toString('base64')}`
}
