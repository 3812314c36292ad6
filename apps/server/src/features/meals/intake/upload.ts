import { createHash } from 'node:crypto'
import { mkdir, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Multipart, MultipartFile } from '@fastify/multipart'
import type { Clock } from '@garner/db'
import type { FastifyRequest } from 'fastify'
import { badRequest, HttpProblem } from '../../../problem.ts'
import { BYTES_MAX, PictureError } from '../photo/index.ts'
import { asProblem } from './refusal.ts'

/**
 * Reads one upload: the photo goes to a file of its own, piece by piece, so that fifty at once take no memory.
 *
 * Promises: a refused upload is read to its end and thrown away before its answer, within bounds, because a connection
 * that is closed under a sender looks to it like a broken line, and the sentence that says why never arrives.
 * Cut anywhere (the program killed, the line broken): the file is gone, or is swept within the day; nothing else is there.
 */
export interface Upload {
  /** The photo as it came. */
  path: string
  bytes: number
  /** SHA-256 of it, in hex. */
  digest: string
  /** The name that the form gives the file; empty when it gives none. */
  partName: string
  fields: Partial<Record<UploadField, string>>
  discard(): Promise<void>
}

export const UPLOAD_FIELDS = [
  ...(['date', 'time', 'offset', 'zone', 'last_modified'] as const),
  ...(['since', 'since_time', 'force', 'filename'] as const),
] as const
export type UploadField = (typeof UPLOAD_FIELDS)[number]

/** Beside the photo: the fields and the form's own lines. */
const FORM_MAX_BYTES = 64 * 1024
/** A file's name has at most 255 bytes; ten fields are known, and one too many is still worth a sentence. */
const LIMITS = {
  ...{ fileSize: BYTES_MAX, files: 5, fields: 25, parts: 30 },
  ...{ fieldSize: 1024, fieldNameSize: 100, headerPairs: 20 },
}
/** 60 s without a byte: a bad line, not a slow one. A photo may take minutes as long as it moves. */
const IDLE_MS = 60_000

/**
 * Errors: HttpProblem 400, 413, 415, 408; those of the file system.
 * @param dir where files lie while they are looked at
 */
export async function receive(
  request: FastifyRequest,
  { dir, ids, clock }: { dir: string; ids: () => string; clock: Clock },
): Promise<Upload> {
  if (Number(request.headers['content-length'] ?? 0) > BYTES_MAX + FORM_MAX_BYTES) {
    throw asProblem(new PictureError('too_large'))
  }
  await mkdir(dir, { recursive: true, mode: 0o700 })
  const path = join(dir, ids())
  const discard = () => rm(path, { force: true }).catch(() => {})
  const idle = new IdleGuard(request, clock)
  try {
    const form = new Form(path, idle)
    for await (const part of request.parts({ limits: LIMITS })) await form.read(part)
    return { ...form.done(), path, discard }
  } catch (error) {
    await discard()
    // What is still to come is read and forgotten, so that the answer can be read.
    request.raw.unpipe()
    request.raw.resume()
    throw idle.hasStruck ? idle.problem() : asReadable(error)
  } finally {
    idle.end()
  }
}

/** The parts of one form. A wrong part does not stop the reading: the first thing that is wrong is told at the end. */
class Form {
  readonly #path: string
  readonly #idle: IdleGuard
  readonly #fields: Partial<Record<UploadField, string>> = {}
  #photo: { bytes: number; digest: string; partName: string } | null = null
  #problem: HttpProblem | null = null

  constructor(path: string, idle: IdleGuard) {
    this.#path = path
    this.#idle = idle
  }

  async read(part: Multipart): Promise<void> {
    this.#idle.moved()
    if (part.type === 'file') await this.#readFile(part)
    else this.#readField(part.fieldname, part)
  }

  async #readFile(part: MultipartFile): Promise<void> {
    const isWanted = part.fieldname === 'photo' && this.#photo === null && this.#problem === null
    if (!isWanted) {
      if (part.fieldname !== 'photo') this.#wrong(part.fieldname, 'is not known here')
      else if (this.#photo) this.#wrong('photo', 'is there twice; send one photo in each request')
      for await (const _ of part.file) this.#idle.moved()
      return
    }
    const file = await open(this.#path, 'wx', 0o600)
    try {
      const hash = createHash('sha256')
      let bytes = 0
      for await (const chunk of part.file as AsyncIterable<Buffer>) {
        this.#idle.moved()
        bytes += chunk.length
        hash.update(chunk)
        await file.write(chunk)
      }
      if (part.file.truncated) this.#problem ??= asProblem(new PictureError('too_large'))
      this.#photo = { bytes, digest: hash.digest('hex'), partName: part.filename ?? '' }
    } finally {
      await file.close()
    }
  }

  #readField(
    name: string,
    part: { value: unknown; valueTruncated: boolean; fieldnameTruncated: boolean },
  ): void {
    const message = this.#problemOf(name, part)
    if (message !== null) this.#wrong(name, message)
    else this.#fields[name as UploadField] = part.value as string
  }

  #problemOf(
    name: string,
    part: { value: unknown; valueTruncated: boolean; fieldnameTruncated: boolean },
  ): string | null {
    if (name === 'photo') return 'must be a file'
    if (!isKnown(name) || part.fieldnameTruncated) return 'is not known here'
    if (this.#fields[name] !== undefined) return 'is there twice'
    return part.valueTruncated || typeof part.value !== 'string' ? 'is too long, or is no text' : null
  }

  #wrong(path: string, message: string): void {
    const field = path.slice(0, 40)
    this.#problem ??= badRequest(`The form is not valid: ${field} ${message}.`, [{ path: field, message }])
  }

  /** Errors: what was wrong first; 400 without a photo. */
  done(): Pick<Upload, 'bytes' | 'digest' | 'partName' | 'fields'> {
    if (!this.#photo && !this.#problem) this.#wrong('photo', 'is missing')
    if (this.#problem) throw this.#problem
    const photo = this.#photo!
    if (photo.bytes === 0) throw asProblem(new PictureError('not_a_picture'))
    return { ...photo, fields: this.#fields }
  }
}

function isKnown(name: string): name is UploadField {
  return (UPLOAD_FIELDS as readonly string[]).includes(name)
}

/** Ends a request whose sender has gone quiet. It looks every few seconds, since a timer for each piece would cost more. */
class IdleGuard {
  readonly #clock: Clock
  readonly #request: FastifyRequest
  readonly #ended = new AbortController()
  #movedAtMs: number
  hasStruck = false

  constructor(request: FastifyRequest, clock: Clock) {
    this.#request = request
    this.#clock = clock
    this.#movedAtMs = clock.monotonicMs()
    void this.#watch()
  }

  async #watch(): Promise<void> {
    while (!this.#ended.signal.aborted) {
      const leftMs = this.#movedAtMs + IDLE_MS - this.#clock.monotonicMs()
      if (leftMs <= 0) {
        this.hasStruck = true
        this.#request.raw.destroy()
        return
      }
      await this.#clock.sleep(leftMs, this.#ended.signal)
    }
  }

  moved(): void {
    this.#movedAtMs = this.#clock.monotonicMs()
  }

  problem(): HttpProblem {
    const detail = 'Nothing came for 60 seconds. Send the photo again.'
    return new HttpProblem({ type: 'too-slow', title: 'The upload stopped', status: 408, detail })
  }

  end(): void {
    this.#ended.abort('read')
  }
}

/** What the form's parser says is the sender's: a form that is cut off or has too many parts. */
function asReadable(error: unknown): unknown {
  const { code = '', message = '' } = error as { code?: string; message?: string }
  if (error instanceof HttpProblem) return error
  if (/^FST_(PARTS|FILES|FIELDS)_LIMIT$/.test(code)) return badRequest('The form has too many parts.')
  const isForm = code.startsWith('FST_') || /multipart|terminated early|boundary|Malformed/i.test(message)
  return isForm ? badRequest('The form cannot be read to its end. Send the photo again.') : error
}
