import { join } from 'node:path'
import multipart from '@fastify/multipart'
import type { Clock, Database, Transaction } from '@garner/db'
import type { JobStore } from '@garner/jobs'
import type { FastifyRequest } from 'fastify'
import { type App, approved } from '../../../http.ts'
import { answerOnce, type GivenAnswer, operationOf, sendAnswer } from '../../../idempotency.ts'
import type { Objects } from '../../../outbound/objects.ts'
import { badRequest, HttpProblem, notFound } from '../../../problem.ts'
import { captureStampOf, inspectFile, type Pictures } from '../photo/index.ts'
import { type Acceptance, asStorage } from './accept.ts'
import { forgetEntry, removeAfter } from './entries.ts'
import { ownEntry } from './entry.ts'
import { pendingOf } from './pending.ts'
import { orProblem } from './refusal.ts'
import { retryEntry } from './retry.ts'
import { checkedFields, takenOf } from './taken-of.ts'
import { receive, type Upload } from './upload.ts'
import type { UploadRate } from './upload-rate.ts'

export interface IntakeDeps {
  db: Database
  clock: Clock
  ids: () => string
  jobs: JobStore<Transaction>
  objects: Objects
  pictures: Pictures
  acceptance: Acceptance
  rate: UploadRate
  /** Where uploads lie while they are looked at. */
  incomingDir: string
  onWork: () => void
  onChange: () => void
}

/** The routes by which photos come in: sending one, looking what became of them, trying one again, taking one back. */
export function registerIntake(app: App, deps: IntakeDeps): void {
  const { db, clock } = deps

  // Of its own, so that forms are read here and nowhere else.
  app.register(async (scope) => {
    await scope.register(multipart, { throwFileSizeLimit: false })
    scope.post('/api/auto-log', async (request, reply) => {
      const who = approved(request)
      deps.rate.take(who.userId)
      if (!request.isMultipart()) throw notAForm()
      const upload = await receive(request, { dir: deps.incomingDir, ids: deps.ids, clock }).catch(
        (error) => {
          throw asStorage(error)
        },
      )
      // Before the answer: whoever has read it finds nothing of the upload any more.
      const answer = await log(deps, request, who.userId, upload).finally(() => upload.discard())
      return sendAnswer(reply, answer)
    })
  })

  app.get('/api/auto-log/pending', async (request, reply) => {
    const who = approved(request)
    reply.header('cache-control', 'private, no-cache')
    return pendingOf(db.read, { jobs: deps.jobs, userId: who.userId, nowMs: clock.nowMs() })
  })

  app.post<{ Params: { id: string } }>('/api/auto-log/:id/retry', async (request, reply) => {
    const who = approved(request)
    assertNoBody(request)
    const { id } = request.params
    const operation = operationOf(request, who.userId, { retry: id })
    const answer = await db.transaction(async (tx) => {
      const given = await answerOnce(tx, { operation, nowMs: clock.nowMs() }, () =>
        retryEntry(tx, deps, { id, userId: who.userId }),
      )
      tellAfter(tx, deps)
      return given
    })
    return sendAnswer(reply, answer)
  })

  app.delete<{ Params: { id: string } }>('/api/auto-log/:id', async (request, reply) => {
    const who = approved(request)
    const { id } = request.params
    await db.transaction(async (tx) => {
      const entry = await ownEntry(tx, { id, userId: who.userId })
      // What has become a meal is deleted as one.
      if (entry?.state !== 'waiting' && entry?.state !== 'dead') throw notFound()
      removeAfter(tx, deps.objects, await forgetEntry(tx, deps, id))
      tellAfter(tx, deps)
    })
    return reply.code(204).send()
  })
}

/** What comes first is cheapest: the fields, then the file's first bytes, then what the photo says of itself. */
async function log(
  { clock, pictures, acceptance }: IntakeDeps,
  request: FastifyRequest,
  userId: string,
  upload: Upload,
): Promise<GivenAnswer> {
  const nowMs = clock.nowMs()
  const said = checkedFields(upload, nowMs)
  const inspection = await orProblem(inspectFile(upload.path))
  const metadata = await orProblem(pictures.readMetadata(upload.path))
  const taken = takenOf(said, { metadata, nowMs })
  return acceptance.accept({
    ...{ userId, digest: upload.digest, captureStamp: captureStampOf(metadata), taken },
    ...{ since: said.since, isForced: said.isForced },
    operation: operationOf(request, userId, { digest: upload.digest, ...upload.fields }),
    normalise: () => orProblem(pictures.normalise(upload.path, inspection)),
  })
}

function tellAfter(tx: Transaction, { onWork, onChange }: IntakeDeps): void {
  tx.afterCommit(onWork)
  tx.afterCommit(onChange)
}

function notAForm(): HttpProblem {
  const detail = 'Send the photo as a form: multipart/form-data with a file called photo.'
  return new HttpProblem({
    type: 'unsupported-media-type',
    title: 'Unsupported media type',
    status: 415,
    detail,
  })
}

function assertNoBody({ body }: FastifyRequest): void {
  if (body !== undefined && body !== null && JSON.stringify(body) !== '{}')
    throw badRequest('This takes no body.')
}

/** Below the data folder: on the disk that the photos go to, and readable by this user alone. */
export function incomingDirOf(dataDir: string): string {
  return join(dataDir, 'incoming')
}
