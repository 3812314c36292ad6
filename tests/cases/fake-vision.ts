/**
 * A stand-in for an OpenAI-compatible vision provider on a free port of this machine. It counts what a provider would
 * put on the bill, keeps facts about each call (never the picture), and behaves as its mode says.
 *
 * The mode of a call: its model (`fake:MODE`, with options as `fake:500?times=2`), else `setMode`, else `ok`.
 * Modes that answer: those of fake-vision-answers.ts, null-content, empty-choices, refusal, content-filter,
 * stream-only, slow (`ms`), idempotent (`fail_first`), html-200.
 * Modes that fail: 400 401-leaky 404 429 429-date 429-quota (`retry_after`) 500 502-html 503 529 no-vision
 * no-json-schema only-json-schema unsupported-param too-large (`limit_bytes`) reset, and with a bill
 * timeout-after-billing, cut-after-billing, slow-headers. In the background alone: failed. `times`: how often, for each picture, before it is ok.
 *
 * Refusing costs nothing; all that got as far as an answer is billed, the useless ones too.
 */
import { createHash, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach } from 'vitest'
import { type AnswerOptions, answerText, type Schema } from './fake-vision-answers.ts'

export interface FakeVisionOptions {
  /** Has /responses at all; else it answers 404 there. Default true. */
  responses?: boolean
  /** Takes `background: true` seriously: an id at once, the answer when asked for by it. Default false. */
  background?: boolean
  /** Every mode answers a repeated Idempotency-Key with the first answer, and bills it once. Default false. */
  honoursKeys?: boolean
  /** What it reads in the picture of the connection test; without it, it sees nothing there. */
  word?: string
}

export interface FakeCall {
  path: string
  mode: string
  model: string
  bodyBytes: number
  authorization: string | undefined
  key: string | undefined
  retryCount: string | undefined
  format: string | undefined
  isBackground: boolean
  temperature: unknown
  pictures: PictureFacts[]
  /** The words that went with the picture. */
  prompt: string
  outcome: string
  billed: boolean
}

export interface PictureFacts {
  mime: string
  bytes: number
  sha256: string
  width?: number
  height?: number
  hasExif: boolean
  hasXmp: boolean
}

export interface FakeVision {
  /** `http://127.0.0.1:PORT/v1`, for GARNER_VISION_URL. */
  readonly url: string
  readonly billed: number
  /** Calls that ask for a description, refused ones too; asking by id is not one. */
  readonly calls: FakeCall[]
  /** How often each Idempotency-Key was billed. */
  readonly billedByKey: Map<string, number>
  /** How often an answer was asked for by its id. */
  readonly polls: number
  /** How many connections were ever made. */
  readonly connections: number
  /** For calls whose model names no mode. */
  setMode(mode: string): void
  /** From now on calls wait, before anything is billed; background ones are taken (and billed), and stay under way. */
  hold(): void
  release(): void
  /** Resolves when this many calls wait. */
  waiting(count?: number): Promise<void>
  /** Background answers are gone: asking by id is a 404 from now on. */
  forget(): void
  reset(): void
  close(): Promise<void>
}

/** As they are written after the mode: `fake:slow?ms=500`. */
interface ModeOptions {
  ms?: string
  times?: string
  n?: string
  retry_after?: string
  limit_bytes?: string
  fail_first?: string
}

interface Body {
  model?: string
  stream?: boolean
  background?: boolean
  temperature?: number
  max_tokens?: number
  instructions?: string
  messages?: unknown
  input?: unknown
  response_format?: { type: string; json_schema?: { schema?: Schema } }
  text?: { format?: { type: string; schema?: Schema } }
}

interface Reply {
  status: number
  headers: Record<string, string>
  body: string
  outcome?: string
}

const open = new Set<FakeVision>()
afterEach(async () => {
  for (const fake of open) await fake.close()
  open.clear()
})

/** Closed after the test, waiting calls cut. */
export async function startFakeVision(options: FakeVisionOptions = {}): Promise<FakeVision> {
  const provider = new Provider(options)
  const server = createServer((request, answer) => void provider.take(request, answer))
  server.requestTimeout = 0
  let connections = 0
  server.on('connection', () => connections++)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  const fake: FakeVision = {
    url,
    get billed() {
      return provider.calls.filter(({ billed }) => billed).length
    },
    get calls() {
      return provider.calls
    },
    get billedByKey() {
      return provider.billedByKey
    },
    get polls() {
      return provider.polls
    },
    get connections() {
      return connections
    },
    setMode: (mode) => {
      provider.mode = mode
      provider.failures.clear()
    },
    hold: () => provider.gate.shut(),
    release: () => provider.gate.open(),
    waiting: (count = 1) => provider.gate.waiting(count),
    forget: () => provider.background.clear(),
    reset: () => provider.reset(),
    async close() {
      open.delete(fake)
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
  open.add(fake)
  return fake
}

/** Where calls wait until they are let through. */
class Gate {
  isShut = false
  #waiting: (() => void)[] = []
  #watchers: { count: number; tell: () => void }[] = []

  shut(): void {
    this.isShut = true
  }

  open(): void {
    this.isShut = false
    for (const go of this.#waiting.splice(0)) go()
  }

  pass(): Promise<void> {
    if (!this.isShut) return Promise.resolve()
    return new Promise((resolve) => {
      this.#waiting.push(resolve)
      for (const { count, tell } of this.#watchers) if (this.#waiting.length >= count) tell()
    })
  }

  waiting(count: number): Promise<void> {
    if (this.#waiting.length >= count) return Promise.resolve()
    return new Promise((tell) => this.#watchers.push({ count, tell }))
  }
}

class Provider {
  mode = 'ok'
  calls: FakeCall[] = []
  polls = 0
  billedByKey = new Map<string, number>()
  failures = new Map<string, number>()
  answers = new Map<string, Reply>()
  background = new Map<string, { reply: Reply; isUnderWay: boolean }>()
  readonly gate = new Gate()
  readonly #options: FakeVisionOptions

  constructor(options: FakeVisionOptions) {
    this.#options = options
  }

  reset(): void {
    this.mode = 'ok'
    this.calls = []
    this.polls = 0
    for (const map of [this.billedByKey, this.failures, this.answers, this.background]) map.clear()
  }

  async take(request: IncomingMessage, answer: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    request.on('error', () => {})
    answer.on('error', () => {})
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer)
    } catch {
      return
    }
    const raw = Buffer.concat(chunks).toString('utf8')
    const path = new URL(request.url ?? '', 'http://fake').pathname.replace(/^\/v1/, '')
    const id = /^\/responses\/([^/]+)$/.exec(path)?.[1]
    if (request.method === 'GET' && id !== undefined) return this.#poll(id, answer)
    const isKnown =
      path === '/chat/completions' || (path === '/responses' && this.#options.responses !== false)
    if (request.method !== 'POST' || !isKnown) return send(answer, problem(404, { message: 'no such route' }))
    await this.#complete(request, answer, path, raw)
  }

  #poll(id: string, answer: ServerResponse): void {
    this.polls++
    const known = this.background.get(id)
    if (!known) send(answer, problem(404, { message: `No response with id '${id}'` }))
    else if (known.isUnderWay && this.gate.isShut) send(answer, underWay(id, 'in_progress'))
    else send(answer, { ...known.reply, body: JSON.stringify({ ...JSON.parse(known.reply.body), id }) })
  }

  async #complete(
    request: IncomingMessage,
    answer: ServerResponse,
    path: string,
    raw: string,
  ): Promise<void> {
    const body = JSON.parse(raw) as Body
    const model = body.model ?? ''
    const [name, query = ''] = (model.startsWith('fake:') ? model.slice(5) : this.mode).split('?')
    const options: ModeOptions = Object.fromEntries(new URLSearchParams(query))
    const call = factsOf(request, { path, mode: name!, body, raw })
    this.calls.push(call)
    answer.on('close', () => {
      if (!answer.writableFinished && call.outcome === 'open') call.outcome = 'client went away'
    })
    const mode = this.#modeNow(name!, options, call.pictures[0]?.sha256 ?? '')
    const refusal = refusalOf(mode, { options, body, raw, model, hasPicture: call.pictures.length > 0 })
    if (refusal) {
      call.outcome = refusal.outcome ?? String(refusal.status)
      return send(answer, refusal)
    }
    if (mode === 'reset') {
      call.outcome = 'reset'
      request.socket.resetAndDestroy()
      return
    }
    const isBackground = body.background === true && this.#options.background === true
    if (isBackground && path === '/responses')
      return this.#takeInBackground(call, answer, body, mode, options)
    await this.gate.pass()
    if (mode === 'slow') await new Promise((resolve) => setTimeout(resolve, Number(options.ms ?? 3000)))
    const replayed = this.#replayOf(call, mode)
    if (replayed) {
      call.outcome = '200 replayed'
      return send(answer, replayed)
    }
    this.#bill(call)
    if (answer.destroyed) {
      call.outcome = 'billed, client went away'
      return
    }
    const reply = this.#answer(call, body, mode, options)
    if (call.key !== undefined) this.answers.set(call.key, reply)
    const cut = mode === 'idempotent' ? options.fail_first : mode
    if (cut === 'cut-after-billing') {
      call.outcome = 'billed, connection cut'
      request.socket.destroy()
    } else if (cut === 'timeout-after-billing') call.outcome = 'billed, never answered'
    else if (cut === 'slow-headers') {
      call.outcome = 'billed, headers only'
      answer.writeHead(200, { 'content-type': 'application/json' })
      answer.flushHeaders()
    } else {
      call.outcome = '200'
      send(answer, reply)
    }
  }

  #takeInBackground(
    call: FakeCall,
    answer: ServerResponse,
    body: Body,
    mode: string,
    options: ModeOptions,
  ): void {
    const replayed = this.#replayOf(call, mode)
    if (replayed) {
      call.outcome = '200 replayed'
      send(answer, replayed)
      return
    }
    const id = `resp_${randomUUID()}`
    // What fails at the provider is not on the bill.
    if (mode !== 'failed') this.#bill(call)
    this.background.set(id, {
      reply: mode === 'failed' ? failed(id) : this.#answer(call, body, mode, options),
      isUnderWay: this.gate.isShut,
    })
    call.outcome = 'background'
    const taken = underWay(id, 'queued')
    if (call.key !== undefined) this.answers.set(call.key, taken)
    send(answer, taken)
  }

  /** Failures that pass after some times. */
  #modeNow(mode: string, options: ModeOptions, picture: string): string {
    if (options.times === undefined) return mode
    const at = `${mode}|${picture}`
    const done = this.failures.get(at) ?? 0
    if (done >= Number(options.times)) return 'ok'
    this.failures.set(at, done + 1)
    return mode
  }

  #replayOf(call: FakeCall, mode: string): Reply | undefined {
    const isHonoured = mode === 'idempotent' || this.#options.honoursKeys === true
    return isHonoured && call.key !== undefined ? this.answers.get(call.key) : undefined
  }

  #bill(call: FakeCall): void {
    call.billed = true
    if (call.key !== undefined) this.billedByKey.set(call.key, (this.billedByKey.get(call.key) ?? 0) + 1)
  }

  #answer(call: FakeCall, body: Body, mode: string, options: ModeOptions): Reply {
    const schema = body.response_format?.json_schema?.schema ?? body.text?.format?.schema ?? null
    const asked: AnswerOptions = { seq: this.calls.length, word: this.#options.word }
    if (options.n !== undefined) asked.n = Number(options.n)
    const text = answerText(mode, schema, asked)
    const kind = call.path === '/responses' ? 'responses' : 'chat'
    if (mode === 'stream-only') return streamed(kind, call.model, text)
    const envelope = envelopeOf(kind, call.model, mode === 'null-content' || mode === 'refusal' ? null : text)
    return json(200, spoilEnvelope(mode, envelope))
  }
}

type Kind = 'chat' | 'responses'
interface Message {
  role: string
  content: string | null
  refusal: string | null
  reasoning_content?: string
}
type Envelope = ReturnType<typeof envelopeOf>

function envelopeOf(kind: Kind, model: string, text: string | null) {
  if (kind === 'chat') {
    const message: Message = { role: 'assistant', content: text, refusal: null }
    return {
      ...{ id: `chatcmpl-${randomUUID()}`, object: 'chat.completion', created: 1_764_000_000, model },
      choices: [{ index: 0, message, finish_reason: 'stop', logprobs: null }],
      usage: { prompt_tokens: 1100, completion_tokens: 300, total_tokens: 1400 },
    }
  }
  const content: Record<string, unknown>[] =
    text === null ? [] : [{ type: 'output_text', text, annotations: [] }]
  return {
    ...{ id: `resp_${randomUUID()}`, object: 'response', created_at: 1_764_000_000, model },
    status: 'completed',
    incomplete_details: null as { reason: string } | null,
    output: [{ id: `msg_${randomUUID()}`, type: 'message', role: 'assistant', status: 'completed', content }],
    usage: { input_tokens: 1100, output_tokens: 300, total_tokens: 1400 },
  }
}

/** The modes whose fault is around the text. */
function spoilEnvelope(mode: string, envelope: Envelope): Envelope {
  const isCut = mode === 'null-content' || mode === 'truncated-json'
  if ('choices' in envelope) {
    const [choice] = envelope.choices
    if (mode === 'empty-choices') envelope.choices = []
    if (isCut) choice!.finish_reason = 'length'
    if (mode === 'null-content')
      choice!.message.reasoning_content = 'The plate seems to hold rice. '.repeat(50)
    if (mode === 'refusal') choice!.message.refusal = "I'm sorry, I can't help with this image."
    if (mode === 'content-filter') {
      choice!.message.content = ''
      choice!.finish_reason = 'content_filter'
    }
    return envelope
  }
  if (mode === 'empty-choices') envelope.output = []
  if (isCut)
    Object.assign(envelope, { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } })
  if (mode === 'refusal')
    envelope.output[0]!.content = [{ type: 'refusal', refusal: "I'm sorry, I can't help with this image." }]
  if (mode === 'content-filter') {
    Object.assign(envelope, { status: 'incomplete', incomplete_details: { reason: 'content_filter' } })
    envelope.output[0]!.content = []
  }
  return envelope
}

function streamed(kind: Kind, model: string, text: string): Reply {
  const parts = text.match(/[\s\S]{1,40}/g) ?? []
  const event = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`
  const chunk = (delta: object, finish: string | null) =>
    event({
      ...{ id: 'chatcmpl-s', object: 'chat.completion.chunk', created: 0, model },
      choices: [{ index: 0, delta, finish_reason: finish }],
    })
  const body =
    kind === 'chat'
      ? `${parts.map((content) => chunk({ content }, null)).join('')}${chunk({}, 'stop')}data: [DONE]\n\n`
      : `${parts.map((delta) => event({ type: 'response.output_text.delta', delta })).join('')}event: response.completed\n${event({ type: 'response.completed', response: envelopeOf(kind, model, text) })}`
  return { status: 200, headers: { 'content-type': 'text/event-stream' }, body, outcome: '200 stream' }
}

/** An answer that costs nothing, or null when the mode does not refuse this call. */
function refusalOf(
  mode: string,
  asked: {
    options: ModeOptions
    body: Body
    raw: string
    model: string
    hasPicture: boolean
  },
): Reply | null {
  const { body, model, options } = asked
  const format = body.response_format?.type ?? body.text?.format?.type
  const after = Number(options.retry_after ?? 2)
  const bad = (message: string, param: string | null = null) =>
    problem(400, { message, type: 'invalid_request_error', param, code: null })
  switch (mode) {
    case '400':
      return bad('The request is malformed.')
    case '401-leaky':
      return problem(401, {
        message: 'Incorrect API key provided: sk-case***123. Organization org-case-42.',
        ...{ type: 'invalid_request_error', code: 'invalid_api_key' },
      })
    case '404':
      return problem(404, {
        ...{ message: `The model ${model} does not exist`, type: 'invalid_request_error' },
        code: 'model_not_found',
      })
    case '429':
      return problem(429, rateLimit('requests'), { 'retry-after': String(after) })
    case '429-date':
      return problem(429, rateLimit('tokens'), {
        'retry-after': new Date(Date.now() + after * 1000).toUTCString(),
        'x-ratelimit-reset-requests': `${after}s`,
      })
    case '429-quota':
      return problem(429, {
        message: 'You exceeded your current quota, please check your plan.',
        ...{ type: 'insufficient_quota', code: 'insufficient_quota' },
      })
    case '500':
      return problem(500, { message: 'The server had an error', type: 'server_error' })
    case '503':
      return problem(
        503,
        { message: 'Overloaded', type: 'server_error' },
        options.retry_after === undefined ? {} : { 'retry-after': String(after) },
      )
    case '529':
      return problem(529, { message: 'Overloaded', type: 'overloaded_error' })
    case '502-html':
      return html(502, '<html><body><h1>502 Bad Gateway</h1></body></html>')
    case 'html-200':
      return html(200, '<html><body>Please sign in to this network</body></html>')
    case 'no-vision':
      return asked.hasPicture ? bad(`Model ${model} does not support image input.`, 'messages') : null
    case 'no-json-schema':
      return format === 'json_schema'
        ? bad("'response_format.type' json_schema is not supported by this endpoint", 'response_format')
        : null
    case 'only-text':
      return format === 'json_schema' || format === 'json_object'
        ? bad("'response_format' is not supported by this endpoint", 'response_format')
        : null
    case 'only-json-schema':
      return format === 'json_object'
        ? bad("'response_format.type' must be 'json_schema' or 'text'", 'response_format')
        : null
    case 'unsupported-param':
      if (body.temperature !== undefined && body.temperature !== 1)
        return bad(
          "Unsupported value: 'temperature' does not support this value with this model.",
          'temperature',
        )
      return body.max_tokens === undefined
        ? null
        : bad("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", 'max_tokens')
    case 'too-large':
      return asked.raw.length > Number(options.limit_bytes ?? 5_000_000)
        ? problem(413, { message: 'Request payload is too large', type: 'invalid_request_error' })
        : null
    default:
      return null
  }
}

function rateLimit(type: string) {
  return { message: 'Rate limit reached', type, code: 'rate_limit_exceeded' }
}

function problem(
  status: number,
  error: Record<string, unknown>,
  headers: Record<string, string> = {},
): Reply {
  return json(status, { error }, { 'x-request-id': `req_${randomUUID().slice(0, 8)}`, ...headers })
}

function json(status: number, value: unknown, headers: Record<string, string> = {}): Reply {
  return { status, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(value) }
}

function html(status: number, body: string): Reply {
  return { status, headers: { 'content-type': 'text/html' }, body, outcome: `${status} html` }
}

function underWay(id: string, status: 'queued' | 'in_progress'): Reply {
  return json(200, { id, object: 'response', created_at: 1_764_000_000, status, output: [], error: null })
}

function failed(id: string): Reply {
  const error = { code: 'server_error', message: 'The model could not be reached' }
  return json(200, { id, object: 'response', created_at: 1_764_000_000, status: 'failed', output: [], error })
}

function send(answer: ServerResponse, { status, headers, body }: Reply): void {
  if (answer.destroyed) return
  answer.writeHead(status, { ...headers, 'content-length': String(Buffer.byteLength(body)) })
  answer.end(body)
}

function factsOf(
  request: IncomingMessage,
  { path, mode, body, raw }: { path: string; mode: string; body: Body; raw: string },
): FakeCall {
  const pictures: PictureFacts[] = []
  const words: string[] = []
  walk([body.instructions, body.messages ?? body.input], (text) => {
    const inline = /^data:([^;,]+);base64,(.*)$/s.exec(text)
    if (inline) pictures.push(pictureFacts(inline[1]!, Buffer.from(inline[2]!, 'base64')))
    else words.push(text)
  })
  const header = (name: string) => request.headers[name]?.toString()
  return {
    ...{ path, mode, model: body.model ?? '', bodyBytes: raw.length, prompt: words.join('\n') },
    authorization: header('authorization'),
    key: header('idempotency-key'),
    retryCount: header('x-stainless-retry-count'),
    format: body.response_format?.type ?? body.text?.format?.type,
    isBackground: body.background === true,
    temperature: body.temperature ?? null,
    ...{ pictures, outcome: 'open', billed: false },
  }
}

function walk(value: unknown, onText: (text: string) => void): void {
  if (typeof value === 'string') onText(value)
  else if (value !== null && typeof value === 'object') {
    for (const one of Object.values(value)) walk(one, onText)
  }
}

/** What a JPEG says before its pixels begin. */
function pictureFacts(mime: string, bytes: Buffer): PictureFacts {
  const facts: PictureFacts = {
    ...{ mime, bytes: bytes.length, hasExif: false, hasXmp: false },
    sha256: createHash('sha256').update(bytes).digest('hex').slice(0, 16),
  }
  let at = 2
  while (at + 9 < bytes.length && bytes[at] === 0xff && bytes[at + 1] !== 0xda) {
    const marker = bytes[at + 1]!
    const begins = bytes.toString('latin1', at + 4, at + 12)
    if (marker === 0xe1 && begins.startsWith('Exif')) facts.hasExif = true
    if (marker === 0xe1 && begins.startsWith('http')) facts.hasXmp = true
    if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)) {
      facts.height = bytes.readUInt16BE(at + 5)
      facts.width = bytes.readUInt16BE(at + 7)
    }
    at += 2 + bytes.readUInt16BE(at + 2)
  }
  return facts
}
