import type { Writable } from 'node:stream'
import pg from 'pg'
import type { Row, Value } from '../database.ts'
import { numbered } from './placeholders.ts'

export interface Answer<R> {
  rows: R[]
  changes: number
}

/** Text, parameters and, where the connection stays ours between statements, the name it is prepared under. */
export interface Statement {
  text: string
  values: Value[]
  name?: string
}

/** 500: statements whose text varies would otherwise fill this process's memory, and that of each server process. */
const PREPARED_MAX = 500

/**
 * Statements by their text. On a connection of our own each is parsed once and then called by its name. Behind a
 * transaction-mode pooler the next statement may meet another server process, which does not know the name, so
 * nothing is named there.
 */
export class Statements {
  readonly #texts = new Map<string, { text: string; name?: string }>()
  readonly #isPooled: boolean

  constructor({ isPooled }: { isPooled: boolean }) {
    this.#isPooled = isPooled
  }

  of(sql: string, values: Value[]): Statement {
    let known = this.#texts.get(sql)
    if (!known) {
      const text = numbered(sql)
      const isNamed = !this.#isPooled && this.#texts.size < PREPARED_MAX
      known = isNamed ? { text, name: `garner_${this.#texts.size}` } : { text }
      if (this.#texts.size < PREPARED_MAX) this.#texts.set(sql, known)
    }
    return { ...known, values }
  }
}

/** Runs it on one connection; statements given without awaiting are sent at once and answered in order. */
export function ask<R = Row>(client: pg.ClientBase, statement: Statement): Promise<Answer<R>> {
  // With a callback: pg's own promises cost more than a small statement, for a stack trace that leads here.
  return new Promise((resolve, reject) => {
    client.query<R & pg.QueryResultRow>(statement, (error: Error | null, result) => {
      if (error) reject(error)
      else resolve({ rows: result.rows, changes: result.rowCount ?? 0 })
    })
  })
}

/** What pg does not show of a connection. */
function streamOf(client: pg.ClientBase): Writable {
  return (client as unknown as { connection: { stream: Writable } }).connection.stream
}

/** Closes it at once; what it was asked fails as when the server goes away. */
export function cutOff(client: pg.ClientBase): void {
  streamOf(client).destroy()
}

/** pg sends each statement by itself; its stream can be told to gather them. Answers how to let them go. */
export function holdBack(client: pg.ClientBase): () => void {
  const stream = streamOf(client)
  let isHeld = true
  stream.cork()
  return () => {
    if (isHeld) stream.uncork()
    isHeld = false
  }
}

const INT8 = 20

/** Whole numbers as numbers: what is stored here stays below 2^53. Everything else as pg reads it. */
export const types: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) => (oid === INT8 ? Number : pg.types.getTypeParser(oid, format)),
}
