import { type ErrorSketch, errorFrom, sketchOf } from './errors.ts'

/**
 * Calls between two processes, in both directions: either end calls the other's objects, and is called back while its
 * own call is under way. A call begins in the turn of the event loop in which it arrives, and they arrive in the order
 * in which they were made.
 *
 * Data is copied. What has methods stays where it is (functions, transactions, stores), and so do errors, of which the
 * other end gets one like it: whatever comes home is the very object that left. So work that is run for a transaction
 * of the other process, and throws, throws its own error to whoever asked for that transaction.
 *
 * Assumes an end it can trust: the other process is the test's own. When that one is gone, every call under way fails.
 */
export interface WireOptions {
  /** Takes messages to the other end, in their order: as copies, never as the objects themselves. */
  send: (message: Message) => void
  /** What each message takes along. */
  stamp?: () => unknown
}

export interface Message {
  stamp: unknown
  said:
    | { call: number; of: number; method: string | null; args: Said[] }
    | { answerTo: number; answer: Said }
    | { answerTo: number; thrown: Said }
}

/** A value on its way: data; something of the sender's; or something of the receiver's, on its way home. */
type Said =
  | { data: unknown }
  | { mine: number; methods: string[] | null }
  | { mine: number; error: ErrorSketch }
  | { yours: number }

interface UnderWay {
  resolve: (answer: unknown) => void
  reject: (error: unknown) => void
}

type Callable = (...args: unknown[]) => unknown

/** A transaction has its methods from its class, where they cannot be told from those of any list or date. */
const OF_TRANSACTION = ['all', 'get', 'run', 'takeTurn', 'afterCommit']

export class Wire {
  readonly #options: WireOptions
  readonly #underWay = new Map<number, UnderWay>()
  #calls = 0
  /** What the other end knows of this one's, and the other way round. */
  readonly #mine = new Map<number, object>()
  readonly #theirs = new WeakMap<object, number>()
  #lent = 0
  #isOver: Error | null = null

  constructor(options: WireOptions) {
    this.#options = options
  }

  /** Offers `root` to the other end, which finds it as its `other`. Before the first message. */
  offer(root: object): void {
    this.#mine.set(0, root)
  }

  /** What the other end offers; `methods` are those it has, null when it is a function. */
  other(methods: string[] | null): unknown {
    return this.#heard({ mine: 0, methods })
  }

  /** Takes a message that the other end has sent. */
  take({ said }: Message): void {
    if ('call' in said) void this.#answer(said)
    else {
      const { resolve, reject } = this.#underWay.get(said.answerTo)!
      this.#underWay.delete(said.answerTo)
      if ('thrown' in said) reject(this.#heard(said.thrown))
      else resolve(this.#heard(said.answer))
    }
  }

  /** The other end is gone: all calls fail with `why`, those under way and those to come. */
  end(why: Error): void {
    this.#isOver = why
    for (const { reject } of this.#underWay.values()) reject(why)
    this.#underWay.clear()
  }

  #call(of: number, method: string | null, args: unknown[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#isOver) throw this.#isOver
      const call = ++this.#calls
      this.#send({ call, of, method, args: args.map((one) => this.#said(one)) })
      this.#underWay.set(call, { resolve, reject })
    })
  }

  async #answer({ call, of, method, args }: Extract<Message['said'], { call: number }>): Promise<void> {
    try {
      const object = this.#mine.get(of) as Record<string, Callable>
      const heard = args.map((one) => this.#heard(one))
      const answer = await (method === null
        ? (object as unknown as Callable)(...heard)
        : object[method]!(...heard))
      this.#send({ answerTo: call, answer: this.#said(answer) })
    } catch (error) {
      this.#send({ answerTo: call, thrown: this.#said(error) })
    }
  }

  #send(said: Message['said']): void {
    this.#options.send({ stamp: this.#options.stamp?.(), said })
  }

  #said(value: unknown): Said {
    if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return { data: value }
    const theirs = this.#theirs.get(value)
    if (theirs !== undefined) return { yours: theirs }
    if (value instanceof Error) return { mine: this.#lend(value), error: sketchOf(value) }
    if (typeof value === 'function') return { mine: this.#lend(value), methods: null }
    const methods = methodsOf(value)
    return methods.length > 0 ? { mine: this.#lend(value), methods } : { data: value }
  }

  #lend(object: object): number {
    this.#mine.set(++this.#lent, object)
    return this.#lent
  }

  #heard(said: Said): unknown {
    if ('data' in said) return said.data
    if ('yours' in said) return this.#mine.get(said.yours)
    const like = 'error' in said ? errorFrom(said.error) : this.#caller(said.mine, said.methods)
    this.#theirs.set(like, said.mine)
    return like
  }

  /** What stands here for an object of the other end's: each of its methods makes a call. */
  #caller(of: number, methods: string[] | null): object {
    const calling =
      (method: string | null) =>
      (...args: unknown[]) =>
        this.#call(of, method, args)
    if (methods === null) return calling(null)
    return Object.fromEntries(methods.map((method) => [method, calling(method)]))
  }
}

function methodsOf(value: object): string[] {
  if ('afterCommit' in value) return OF_TRANSACTION
  return Object.entries(value).flatMap(([name, member]) => (typeof member === 'function' ? [name] : []))
}
