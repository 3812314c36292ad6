import { badRequest, conflict, forbidden, HttpProblem, tooMany } from '../../problem.ts'

/**
 * Better Auth's refusals in Garner's words. Decided on its stable codes (`@better-auth/core`, error/codes);
 * what has no words here is a 400 when it blames the request, and a fault of ours otherwise.
 */
export async function authProblem(answer: Response): Promise<HttpProblem> {
  if (answer.status === 429) {
    const waitS = Math.max(1, Number(answer.headers.get('x-retry-after')) || 1)
    return tooMany('too-many-tries', `Too many tries. You can try again in ${waitS} s.`, waitS * 1000)
  }
  const known = BY_CODE[await codeOf(answer)]
  if (known) return known()
  if (answer.status === 401) return signInFirst()
  if (answer.status === 403) return forbidden('This is not possible here.')
  if (answer.status >= 400 && answer.status < 500)
    return badRequest('This cannot be done with what was sent.')
  throw new Error(`Better Auth answered ${answer.status}.`)
}

const wrongPair = () =>
  new HttpProblem({
    type: 'wrong-credentials',
    title: 'Not signed in',
    status: 401,
    detail: 'That email and password do not go together.',
  })

const signInFirst = () =>
  new HttpProblem({
    type: 'not-signed-in',
    title: 'Not signed in',
    status: 401,
    detail: 'Sign in first.',
  })

const taken = () =>
  conflict('email-taken', 'There is already an account with that email. Sign in with it instead.')

const field = (path: string, message: string) => () =>
  badRequest(`The ${path} ${message}.`, [{ path, message }])

const BY_CODE: Record<string, () => HttpProblem> = {
  INVALID_EMAIL_OR_PASSWORD: wrongPair,
  // Not told apart from a wrong pair: it would say which addresses have accounts.
  CREDENTIAL_ACCOUNT_NOT_FOUND: wrongPair,
  INVALID_PASSWORD: field('currentPassword', 'is not your password'),
  INVALID_EMAIL: field('email', 'is not an email address'),
  // The routes have checked every other field by now.
  VALIDATION_ERROR: field('email', 'is not an email address'),
  PASSWORD_TOO_SHORT: field('password', 'must have at least 8 characters'),
  PASSWORD_TOO_LONG: field('password', 'must have at most 128 characters'),
  USER_ALREADY_EXISTS: taken,
  USER_ALREADY_EXISTS_USE_ANOTHER_EMAIL: taken,
  // The unique index refused it: someone else was quicker with the same address.
  FAILED_TO_CREATE_USER: taken,
}

async function codeOf(answer: Response): Promise<string> {
  try {
    const { code } = (await answer.json()) as { code?: unknown }
    return typeof code === 'string' ? code : ''
  } catch {
    return ''
  }
}
