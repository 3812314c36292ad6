import { nowMs } from '../lib/clock.ts'

/** What each row of the raw tables carries: the JSON of a job of the cases. */
export const BODY = JSON.stringify({ i: 12345, to: 'user12345@example.test', kind: 'invoice' })

/** Repeats `step`, which answers how much it has done, for `ms`; answers how much that is a second. */
export function perSecond(ms: number, step: (done: number) => number): number {
  const startedMs = nowMs()
  let done = 0
  while (nowMs() - startedMs < ms) done += step(done)
  return done / ((nowMs() - startedMs) / 1000)
}

/** The same with steps that are awaited, in lanes side by side. Each lane's first step, which prepares it, is not counted. */
export async function perSecondOf(ms: number, lanes: (() => Promise<number>)[]): Promise<number> {
  await Promise.all(lanes.map((step) => step()))
  const startedMs = nowMs()
  let done = 0
  await Promise.all(
    lanes.map(async (step) => {
      while (nowMs() - startedMs < ms) done += await step()
    }),
  )
  return done / ((nowMs() - startedMs) / 1000)
}

/** What a claim answers must not be nothing: then the table was too small and the rate would be that of looking. */
export function some<T>(claimed: T[]): T[] {
  if (claimed.length === 0) throw new Error('The table was empty before the time was over.')
  return claimed
}
