/** An answer that is a problem: thrown by the fake's routes, sent by its server. */
export class Refusal extends Error {
  readonly status: number
  readonly more: object
  constructor(status: number, detail: string, more: object = {}) {
    super(detail)
    this.status = status
    this.more = more
  }
}
