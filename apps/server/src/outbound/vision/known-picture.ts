import { findJson } from './find-json.ts'
import type { Question } from './prompt.ts'
import type { Reply } from './reply.ts'
import { VisionError, type VisionTest } from './vision.ts'

/**
 * The picture of the connection test: a word in large letters over a blue triangle. A server that drops the picture
 * on the way makes something up, and cannot make up this word.
 */
const WORD = 'TULIP'

export const KNOWN: Question = {
  name: 'picture',
  instructions:
    'You describe a test picture. It shows one large shape and one word. Answer with one JSON object and nothing else.',
  text: 'Which shape, of which colour, and which word does this picture show?',
  schema: {
    type: 'object',
    properties: {
      shape: { type: 'string' },
      colour: { type: 'string' },
      word: { type: 'string', description: 'the word in the picture, exactly as written' },
    },
    required: ['shape', 'colour', 'word'],
    additionalProperties: false,
  },
}

/** Five by seven dots a letter, a row a number; drawn here, so that it looks the same where no fonts are installed. */
const LETTERS: Record<string, number[]> = {
  T: [0b11111, 0b00100, 0b00100, 0b00100, 0b00100, 0b00100, 0b00100],
  U: [0b10001, 0b10001, 0b10001, 0b10001, 0b10001, 0b10001, 0b01110],
  L: [0b10000, 0b10000, 0b10000, 0b10000, 0b10000, 0b10000, 0b11111],
  I: [0b01110, 0b00100, 0b00100, 0b00100, 0b00100, 0b00100, 0b01110],
  P: [0b11110, 0b10001, 0b10001, 0b11110, 0b10000, 0b10000, 0b10000],
}
const SIZE = 512
const DOT = 14
const WHITE = [255, 255, 255]
const BLACK = [0, 0, 0]
const BLUE = [20, 60, 220]

/** JPEG, 512 × 512. */
export async function knownPicture(): Promise<Uint8Array> {
  // Loaded for this alone: the program's own pictures are worked on in threads.
  const { default: sharp } = await import('sharp')
  const pixels = Buffer.alloc(SIZE * SIZE * 3)
  for (let y = 0; y < SIZE; y++) {
    for (let x = 0; x < SIZE; x++) pixels.set(colourAt(x, y), (y * SIZE + x) * 3)
  }
  const raw = { width: SIZE, height: SIZE, channels: 3 } as const
  return new Uint8Array(await sharp(pixels, { raw }).jpeg({ quality: 90 }).toBuffer())
}

function colourAt(x: number, y: number): number[] {
  if (isLetter(x, y)) return BLACK
  // From its tip at (256, 200) down to its base at y = 480.
  return y >= 200 && y < 480 && Math.abs(x - SIZE / 2) < (y - 200) * 0.7 ? BLUE : WHITE
}

function isLetter(x: number, y: number): boolean {
  const cell = 6 * DOT
  const left = (SIZE - WORD.length * cell) / 2
  const column = Math.floor((x - left) / DOT)
  const row = Math.floor((y - 50) / DOT)
  const letter = LETTERS[WORD[Math.floor(column / 6)] ?? '']
  const bit = column % 6
  if (!letter || column < 0 || row < 0 || row > 6 || bit > 4) return false
  return ((letter[row]! >> (4 - bit)) & 1) === 1
}

/** What the test found, in words for the operator: ours alone. */
export function judge(reply: Reply | VisionError): VisionTest {
  if (reply instanceof VisionError) return { finding: reply.code, detail: WORDS[reply.code] }
  if ('unusable' in reply) return { finding: 'unusable', detail: UNUSABLE }
  const said = findJson(reply.text)?.value
  const isRead = reply.text.toUpperCase().includes(WORD)
  const isSeen = /triang/i.test(String(said?.['shape'])) && /blue/i.test(String(said?.['colour']))
  return isRead || isSeen
    ? { finding: 'works', detail: 'The model described the test picture.' }
    : { finding: 'sees_nothing', detail: SEES_NOTHING }
}

const SEES_NOTHING =
  'The model answers, but does not describe the test picture: the server may drop pictures, or the model cannot see. Its estimates would be invented. Choose a model with vision.'
const UNUSABLE =
  'The model answered something that cannot be used. Choose a model that follows a format, or another endpoint.'
const WORDS: Record<VisionError['code'], string> = {
  not_configured: 'No vision provider is set up: set GARNER_VISION_URL and GARNER_VISION_MODEL.',
  unreachable: 'The provider could not be reached: check GARNER_VISION_URL and the network.',
  connection_lost: 'The connection to the provider was lost before it answered.',
  timeout: 'The provider did not answer in time: GARNER_VISION_TIMEOUT_S may be too short for this model.',
  still_running:
    'The provider was still working when the time was over: GARNER_VISION_TIMEOUT_S may be too short.',
  aborted: 'The test was broken off.',
  rate_limited: 'The provider asks for a pause: too many calls.',
  overloaded: 'The provider is overloaded or out of order.',
  not_a_provider: 'What answers there is a web page, not a vision provider: check GARNER_VISION_URL.',
  request_refused: 'The provider refuses the request: this model may not take pictures.',
  too_large: 'The provider refuses even a small picture as too large.',
  quota_exceeded: "The provider's quota is used up: photos wait until its account is topped up.",
  key_refused: 'The provider refuses the key: check GARNER_VISION_KEY.',
  model_not_found:
    'The provider does not know this model or address: check GARNER_VISION_MODEL and GARNER_VISION_URL.',
}
