import type { Clock } from '@garner/db'
import { PictureError } from '../picture-error.ts'
import type { Reply } from './answer.ts'
import type { OpenRunner, Runner } from './runner.ts'

/**
 * A runner (runner.ts) that is opened when there is work and replaced when it is spent or broken.
 *
 * Promises: each job ends within `limitMs` of its start, if need be by ending its runner; a runner does at most
 * `jobsMax` jobs.
 * Assumes nothing of the runner: one that hangs, crashes or runs out of memory is replaced at the next job. If it had
 * several jobs, nobody can tell whose fault that was: they are `busy`, to be sent again; a job that was alone is
 * `undecodable`. Assumes that somebody bounds how many jobs there are (line.ts).
 */
export interface RunnersParts {
  clock: Clock
  open: OpenRunner
  /** A duration, from the start of a job to its forced end. */
  limitMs: number
  /** A runner is replaced after so many jobs. Default: never. */
  jobsMax?: number
  /** A duration without work after which a runner is ended, and its memory given back. Default: never. */
  idleMs?: number
}

interface Running {
  resolve: (result: unknown) => void
  reject: (error: unknown) => void
  /** Stops the clock of the job. */
  timer: AbortController
}

/** A runner at work. One that is left ends what it has, and gets no more. */
interface Post {
  runner: Runner
  running: Map<number, Running>
  started: number
  isLeft: boolean
  /** Stops the clock of its idleness. */
  idle: AbortController
}

export class Runners {
  readonly #parts: RunnersParts
  readonly #posts = new Set<Post>()
  readonly #ending = new Set<Promise<void>>()
  #isClosed = false

  constructor(parts: RunnersParts) {
    this.#parts = parts
  }

  /**
   * Has a job done. `transfer`: buffers that are handed over instead of copied, to threads.
   * Errors: PictureError: what the runner refuses with, `too_slow` at the limit, `undecodable` or `busy` when the
   * runner went down with it; Error when the runner had a fault.
   */
  run<Result>(job: unknown, transfer: ArrayBuffer[] = []): Promise<Result> {
    return new Promise<Result>((resolve, reject) => {
      if (this.#isClosed) throw new Error('the runners for pictures are closed')
      const post = this.#openPost()
      const number = post.started++
      if (post.started >= (this.#parts.jobsMax ?? Number.POSITIVE_INFINITY)) post.isLeft = true
      const timer = new AbortController()
      post.running.set(number, { resolve: (result) => resolve(result as Result), reject, timer })
      void this.#parts.clock.sleep(this.#parts.limitMs, timer.signal).then(() => {
        if (!timer.signal.aborted) this.#tooSlow(post, number)
      })
      post.idle.abort()
      post.runner.hold(true)
      post.runner.send({ number, job }, transfer)
    })
  }

  /** Ends all runners whatever they do, and resolves when they are gone. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const post of [...this.#posts]) this.#end(post, new PictureError('busy'))
    await Promise.all(this.#ending)
  }

  #openPost(): Post {
    for (const post of this.#posts) if (!post.isLeft) return post
    const runner = this.#parts.open({
      replied: (reply) => this.#replied(post, reply),
      gone: (why) => this.#end(post, new PictureError(post.running.size > 1 ? 'busy' : 'undecodable', why)),
    })
    const idle = new AbortController()
    const post: Post = { runner, running: new Map(), started: 0, isLeft: false, idle }
    this.#posts.add(post)
    return post
  }

  #replied(post: Post, reply: Reply): void {
    const job = post.running.get(reply.number)
    if (!job) return
    job.timer.abort()
    post.running.delete(reply.number)
    if (reply.replaceMe) post.isLeft = true
    if (post.running.size === 0) this.#rest(post)
    if (reply.is === 'done') job.resolve(reply.result)
    else if (reply.is === 'refused') job.reject(new PictureError(reply.code, reply.detail))
    else job.reject(new Error(`a runner for pictures had a fault: ${reply.detail}`))
  }

  #rest(post: Post): void {
    const { clock, idleMs } = this.#parts
    post.runner.hold(false)
    if (post.isLeft) this.#end(post, null)
    else if (idleMs !== undefined) {
      post.idle = new AbortController()
      const { signal } = post.idle
      void clock.sleep(idleMs, signal).then(() => {
        if (!signal.aborted) this.#end(post, null)
      })
    }
  }

  #tooSlow(post: Post, number: number): void {
    post.running.get(number)!.reject(new PictureError('too_slow'))
    post.running.delete(number)
    this.#end(post, new PictureError('busy'))
  }

  /** Ends a runner, and what it was doing with this error. */
  #end(post: Post, error: PictureError | null): void {
    if (!this.#posts.delete(post)) return
    post.idle.abort()
    for (const { timer, reject } of post.running.values()) {
      timer.abort()
      reject(error)
    }
    post.running.clear()
    const ended = post.runner.end().finally(() => this.#ending.delete(ended))
    this.#ending.add(ended)
  }
}
