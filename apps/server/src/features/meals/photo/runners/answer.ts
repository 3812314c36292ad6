import { parentPort } from 'node:worker_threads'
import { PictureError, type PictureErrorCode } from '../picture-error.ts'

/** What is sent to a runner, and what it answers: the number says to which job. */
export interface Order {
  number: number
  job: unknown
}

type Refusal = { is: 'refused'; code: PictureErrorCode; detail: string } | { is: 'broken'; detail: string }

/** A runner that asks for it is replaced after its answer. */
export type Reply = { number: number; replaceMe: boolean } & ({ is: 'done'; result: unknown } | Refusal)

export interface Done {
  result: unknown
  /** Buffers that are handed over instead of copied, between threads. */
  transfer?: ArrayBuffer[]
  replaceMe?: boolean
}

/**
 * The inside of a runner: does what it is sent, and answers each job once. A PictureError is an answer; any other
 * error is a fault, and the runner that had it is not trusted with another job.
 */
export function answerJobs<Job>(work: (job: Job) => Done | Promise<Done>): void {
  const answer = async ({ number, job }: Order, send: (reply: Reply, transfer: ArrayBuffer[]) => void) => {
    try {
      const { result, transfer = [], replaceMe = false } = await work(job as Job)
      send({ number, is: 'done', result, replaceMe }, transfer)
    } catch (error) {
      const refused = refusal(error)
      send({ number, ...refused, replaceMe: refused.is === 'broken' }, [])
    }
  }
  if (parentPort) {
    const port = parentPort
    port.on(
      'message',
      (order: Order) => void answer(order, (reply, transfer) => port.postMessage(reply, transfer)),
    )
    return
  }
  process.on('message', (order) => void answer(order as Order, (reply) => process.send!(reply)))
  // The program that started it is gone, also when it was killed: nobody is left to answer.
  process.on('disconnect', () => process.exit())
  // A Ctrl+C or a stop of the service reaches both: the program decides when its pictures are done.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
}

function refusal(error: unknown): Refusal {
  if (error instanceof PictureError) {
    return { is: 'refused', code: error.code, detail: describe(error.cause) }
  }
  return { is: 'broken', detail: describe(error) }
}

/** Errors of libraries hold what cannot be sent on. */
function describe(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : JSON.stringify(error ?? null)
}
