import { isUtf8 } from 'node:buffer'
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import { ConstraintViolation, StoreUnavailable, UnstorableText } from '@garner/db'
import { OperationConflict, QueueFull } from '@garner/jobs'
import { Ajv } from 'ajv'
import Fastify, {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
  type RawServerDefault,
} from 'fastify'
import type { Principal } from './principal.ts'
import {
  badRequest,
  conflict,
  forbidden,
  HttpProblem,
  notFound,
  type Problem,
  tooMany,
  unauthenticated,
  unavailable,
} from './problem.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Who is asking; null without valid credentials. Set for every route by `authenticate`. */
    principal: Principal | null
  }
  interface FastifyContextConfig {
    /** Reads a list: who asks may be known from a few seconds ago, and too many at once are turned away first of all. */
    isListRead?: boolean
    /** Asks again who is asking, in its own transaction: until then it is enough that they were known lately. */
    isConfirmed?: boolean
  }
}

export type App = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>

/** Bodies other than uploads and imports: 16 KiB, larger is 413. */
export const BODY_MAX_BYTES = 16 * 1024

/**
 * 15 min for a whole request: a photo of 25 MB at 30 KB/s. At 30 s, which is plenty for all else, people on a bad line
 * could send none. Who sends nothing at all is cut off sooner (meals/intake/upload.ts), and one connection costs little.
 */
const REQUEST_MS = 15 * 60_000

export interface AppOptions {
  logger: FastifyBaseLogger
  authenticate: (request: FastifyRequest) => Promise<Principal | null> | Principal | null
  /** Refuse requests that name another host than this machine: for the demo, where a header says who one is. */
  isLoopbackOnly?: boolean
  /** Asked before anything else is: throws when this request is one too many. */
  admit?: (request: FastifyRequest) => void
  /** Told of every problem that is answered. */
  onProblem?: (problem: Problem) => void
  /** Told of every finished request. */
  onResponse?: (request: FastifyRequest, status: number, ms: number) => void
}

/**
 * Fastify's own Ajv would drop unknown fields and turn "1" into 1 in bodies; both hide a caller's mistake. In a
 * query string everything is text, so there numbers and booleans are read from it.
 */
const validators = {
  strict: new Ajv({ removeAdditional: false, coerceTypes: false, useDefaults: true, strict: false }),
  coercing: new Ajv({ removeAdditional: false, coerceTypes: true, useDefaults: true, strict: false }),
}

/**
 * A Fastify instance with what all features share: validation that refuses unknown fields, problem answers,
 * the principal, and headers that every answer has. Features register their routes on it.
 */
export function createApp({
  logger,
  authenticate,
  isLoopbackOnly = false,
  admit,
  onProblem,
  onResponse,
}: AppOptions): App {
  const app = Fastify({
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: BODY_MAX_BYTES,
    routerOptions: { maxParamLength: 200 },
    forceCloseConnections: 'idle',
    requestTimeout: REQUEST_MS,
    clientErrorHandler: answerBrokenHttp,
    frameworkErrors: (error, _request, reply) => {
      const { problem } = asProblem(error)
      const answer = (reply as unknown as FastifyReply).code(problem.status).type('application/problem+json')
      void answer.send(JSON.stringify(problem))
    },
  }).withTypeProvider<TypeBoxTypeProvider>() as App

  readJsonOnly(app)
  app.setValidatorCompiler(({ schema, httpPart }) =>
    validators[httpPart === 'body' ? 'strict' : 'coercing'].compile(schema),
  )
  // The schemas of answers are for types and documentation; checking our own words again costs a third of a save.
  app.setSerializerCompiler(() => (value) => JSON.stringify(value))
  app.decorateRequest('principal', null)
  // With `done`, not with a promise: most of a save's way through here has nothing to wait for.
  app.addHook('onRequest', (request, reply, done) => {
    let who: ReturnType<AppOptions['authenticate']>
    try {
      reply.header('x-content-type-options', 'nosniff')
      if (isLoopbackOnly && !isLoopbackName(request.headers.host)) throw misdirected()
      admit?.(request)
      who = needsPrincipal(request.url) ? authenticate(request) : null
    } catch (error) {
      return done(error as Error)
    }
    const go = (principal: Principal | null) => {
      request.principal = principal
      done()
    }
    if (who instanceof Promise) who.then(go, done)
    else go(who)
  })
  if (onResponse) {
    app.addHook('onResponse', (request, reply, done) => {
      onResponse(request, reply.statusCode, reply.elapsedTime)
      done()
    })
  }
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const { problem, headers } = asProblem(error)
    onProblem?.(problem)
    if (problem.status >= 500 && !(error instanceof HttpProblem)) {
      request.log.error(
        { code: error.code, kind: error.name, route: request.routeOptions.url },
        'request failed',
      )
    }
    return reply
      .code(problem.status)
      .headers(headers)
      .type('application/problem+json')
      .send(JSON.stringify(problem))
  })
  app.setNotFoundHandler((_request, reply) => {
    const { problem } = notFound()
    return reply.code(404).type('application/problem+json').send(JSON.stringify(problem))
  })
  return app
}

/**
 * JSON in UTF-8 and nothing else. Bytes that are no UTF-8 (a Latin-1 terminal) are refused: decoded all the same they
 * would be stored as replacement characters, and nobody would know what the person wrote.
 */
function readJsonOnly(app: App): void {
  const parse = app.getDefaultJsonParser('error', 'error')
  app.removeAllContentTypeParsers()
  app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    if (body.length === 0) return done(badRequest('The body is empty. Send JSON, or leave Content-Type out.'))
    if (request.headers['content-encoding'] !== undefined) {
      return done(unsupported('Send the body as it is, without Content-Encoding.'))
    }
    if (!isUtf8(body)) return done(badRequest('The body is not valid UTF-8.'))
    return parse(request, body.toString('utf8'), done)
  })
}

/** What cannot be read as HTTP never reaches a route: the answer is written onto the connection itself. */
function answerBrokenHttp(error: Error & { code?: string }, socket: Socket): void {
  // The other side has gone, or an answer is half on its way: nothing can be said any more.
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) return void socket.destroy()
  const [status, title, detail] = BROKEN_HTTP[error.code ?? ''] ?? [
    400,
    'The request is not valid',
    'This is not a request in HTTP/1.1.',
  ]
  const body = JSON.stringify({ type: 'invalid-request', title, status, detail } satisfies Problem)
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/problem+json\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  )
}

const BROKEN_HTTP: Record<string, [number, string, string] | undefined> = {
  HPE_HEADER_OVERFLOW: [431, 'Headers too large', 'The address and headers are over 16 KiB.'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request did not arrive', 'It took too long; send it again.'],
}

/** Health, the client's files and its pages say nothing of anyone: they work with the database away, too. */
function needsPrincipal(url: string): boolean {
  return url.startsWith('/api') || url.startsWith('/bookmarks') || url.startsWith('/metrics')
}

/**
 * Whether a Host header means this machine. A page elsewhere can make a name of its own point to 127.0.0.1 (DNS
 * rebinding) and have a browser on this machine ask for it; the name it asked for still stands here.
 */
export function isLoopbackName(host: string | undefined): boolean {
  return host !== undefined && /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i.test(host)
}

function misdirected(): HttpProblem {
  return new HttpProblem({
    type: 'wrong-host',
    title: 'Not this host',
    status: 421,
    detail: 'The demo only answers to localhost and 127.0.0.1.',
  })
}

/** The approved person behind the request. Throws the 401 or 403 that says what is missing. */
export function approved(request: FastifyRequest): Principal {
  const { principal } = request
  if (!principal) throw unauthenticated()
  assertApproved(principal)
  return principal
}

/** Errors: the 403 that says what is missing. */
export function assertApproved(principal: Principal): void {
  if (principal.status === 'pending') {
    throw forbidden(
      'Your account is waiting to be let in by the person who runs this Garner.',
      'account-pending',
    )
  }
  if (principal.status === 'rejected') throw forbidden('This account was not let in.', 'account-rejected')
}

/** The approved operator behind the request. Others get the answer of a place that does not exist. */
export function operator(request: FastifyRequest): Principal {
  const principal = approved(request)
  if (principal.role !== 'admin') throw forbidden('Only the person who runs this Garner may do this.')
  return principal
}

function asProblem(error: FastifyError): { problem: Problem; headers: Record<string, string> } {
  const known = knownProblem(error)
  return { problem: known.problem, headers: known.headers }
}

function unsupported(detail: string): HttpProblem {
  const title = 'Unsupported media type'
  return new HttpProblem({ type: 'unsupported-media-type', title, status: 415, detail })
}

const UNREADABLE: Record<string, string | undefined> = {
  FST_ERR_CTP_INVALID_JSON_BODY: 'The body is not valid JSON.',
  FST_ERR_BAD_URL: 'The path of this address has a percent sign that stands for nothing.',
}

function knownProblem(error: FastifyError): HttpProblem {
  if (error instanceof HttpProblem) return error
  if (error instanceof QueueFull) {
    const whose =
      error.scope === 'tenant' ? `You have ${error.pending} things` : `${error.pending} things are`
    return tooMany(
      'queue-full',
      `The queue is full, so this is not saved. ${whose} waiting already; try again in a few seconds.`,
      error.retryAfterMs,
    )
  }
  if (error instanceof OperationConflict) {
    return conflict(
      'operation-conflict',
      'This Idempotency-Key was already used for something else; use a new one.',
    )
  }
  if (error instanceof StoreUnavailable) {
    return unavailable(
      error.reason === 'unanswered'
        ? 'The connection to the database was lost, and it is not known whether this was saved. Look again in a moment.'
        : 'The database cannot be used right now; nothing was saved. Try again in a moment.',
      2_000,
    )
  }
  if (error instanceof UnstorableText) {
    return badRequest('The request has a character that cannot be part of any text (NUL).')
  }
  // What it refers to was there when it was looked up. Only where transactions run side by side.
  if (error instanceof ConstraintViolation && error.kind === 'foreign-key') {
    return conflict(
      'deleted-meanwhile',
      'What this was about was deleted at the same moment; nothing was saved.',
    )
  }
  if (error.validation) {
    const context = error.validationContext ?? 'body'
    const errors = error.validation.map((one) => ({
      path: pathOf(context, one),
      message: messageOf(one),
    }))
    return badRequest(
      `The ${context} is not valid: ${errors.map((one) => `${one.path} ${one.message}`).join('; ')}.`,
      errors,
    )
  }
  // No id is that long, so this is the address of nothing.
  if (error.statusCode === 414) return notFound()
  if (error.statusCode === 413) {
    return new HttpProblem({
      type: 'too-large',
      title: 'Too large',
      status: 413,
      detail: `The request is over ${BODY_MAX_BYTES / 1024} KiB.`,
    })
  }
  if (error.statusCode === 415) {
    return unsupported('Send JSON, with Content-Type: application/json.')
  }
  if (error.statusCode !== undefined && error.statusCode >= 400 && error.statusCode < 500) {
    return badRequest(UNREADABLE[error.code] ?? 'The request cannot be read.')
  }
  return new HttpProblem({
    type: 'internal',
    title: 'Something went wrong here',
    status: 500,
    detail: 'This is a fault of the server. Nothing you sent is known to be wrong.',
  })
}

type ValidationError = NonNullable<FastifyError['validation']>[number]

function pathOf(context: string, error: ValidationError): string {
  const params = error.params as {
    missingProperty?: string
    additionalProperty?: string
    additionalProperties?: string[]
  }
  const last = params.missingProperty ?? params.additionalProperty ?? params.additionalProperties?.[0]
  const path = `${error.instancePath}${last ? `/${last}` : ''}`.slice(1).replaceAll('/', '.')
  return path === '' ? context : path
}

function messageOf(error: ValidationError): string {
  if (error.keyword === 'additionalProperties') return 'is not known here'
  if (error.keyword === 'required') return 'is missing'
  return error.message ?? 'is not valid'
}
