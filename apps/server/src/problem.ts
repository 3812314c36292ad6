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

/** Thrown anywhere below a route; the one error handler (http.ts) turns it into the answer. */
export class HttpProblem extends Error {
  readonly code = 'HTTP_PROBLEM'
  readonly problem: Problem
  readonly headers: Record<string, string>
  constructor(problem: Problem, headers: Record<string, string> = {}) {
    super(problem.title)
    this.name = 'HttpProblem'
    this.problem = problem
    this.headers = headers
  }
}

export function badRequest(detail: string, errors?: Problem['errors']): HttpProblem {
  return new HttpProblem({
    type: 'invalid-request',
    title: 'The request is not valid',
    status: 400,
    detail,
    ...(errors && { errors }),
  })
}

export function unauthenticated(detail = 'Sign in, or send an API token.'): HttpProblem {
  return new HttpProblem(
    { type: 'not-signed-in', title: 'Not signed in', status: 401, detail },
    { 'www-authenticate': 'Bearer realm="garner"' },
  )
}

export function forbidden(detail: string, type = 'forbidden'): HttpProblem {
  return new HttpProblem({ type, title: 'Not allowed', status: 403, detail })
}

/** Another person's thing and a missing thing give the very same answer. */
export function notFound(): HttpProblem {
  return new HttpProblem({
    type: 'not-found',
    title: 'Not found',
    status: 404,
    detail: 'There is nothing here that you may see.',
  })
}

export function conflict(type: string, detail: string, current?: unknown): HttpProblem {
  return new HttpProblem({
    type,
    title: 'Conflict',
    status: 409,
    detail,
    ...(current !== undefined && { current }),
  })
}

/** Whole seconds for a Retry-After header, at least 1. */
export function retryAfter(ms: number): Record<string, string> {
  return { 'retry-after': String(Math.max(1, Math.ceil(ms / 1000))) }
}

export function tooMany(type: string, detail: string, retryAfterMs: number): HttpProblem {
  return new HttpProblem({ type, title: 'Too many', status: 429, detail }, retryAfter(retryAfterMs))
}

export function unavailable(detail: string, retryAfterMs: number): HttpProblem {
  return new HttpProblem(
    { type: 'unavailable', title: 'Unavailable for the moment', status: 503, detail },
    retryAfter(retryAfterMs),
  )
}

/** The answer to someone who is not in a group, and just the same where there is no such group. */
export function notAMember(): HttpProblem {
  return forbidden(
    'You are not in this group, or there is no such group. Ask one of its members to add you.',
    'not-a-member',
  )
}
