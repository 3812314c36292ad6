import { HttpProblem, retryAfter } from '../../../problem.ts'
import { PictureError } from '../photo/index.ts'

/** 5 s: a picture is read in a quarter of a second, and the line is 200 long at most. */
const BUSY_MS = 5_000

const TITLES = {
  400: 'The picture cannot be read',
  413: 'Too large',
  415: 'Not a picture that Garner reads',
  429: 'Too many',
}

/** What was wrong with a picture, as its sender is told. */
export function asProblem(error: PictureError): HttpProblem {
  const { status, code, message } = error
  return new HttpProblem(
    {
      type: `picture-${code.replaceAll('_', '-')}`,
      title: TITLES[status],
      status,
      detail: message,
      errors: [{ path: 'photo', message }],
    },
    status === 429 ? retryAfter(BUSY_MS) : {},
  )
}

/** `work`, its PictureErrors as problems. */
export async function orProblem<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (error instanceof PictureError) throw asProblem(error)
    throw error
  }
}
