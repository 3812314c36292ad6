/** An error as clients see it: RFC 9457, `application/problem+json`. */
export interface Problem {
  /** A stable word for programs to decide on, e.g. `queue-full`. */
  type: string
  title: string
  status: number
  /** One sentence that a person can act on. */
  detail: string
  /** Only for invalid input: which field, and what is wrong with it. */
  errors?: { path: string; message: string }[]
  /** Only for a version conflict (409): the item as it is now. */
  current?: unknown
}
