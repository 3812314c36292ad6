import { systemClock } from '@garner/db'
import { openTestPostgres } from './database.ts'

/**
 * Brings transactions of PostgreSQL together at a lock, so that a race is one each time: somebody holds what `sql` locks;
 * each racer begins when all before it wait for a lock; then the holder lets go, and they go on in their order.
 */
export async function meetingAt<T>(
  { path, sql, params = [] }: { path: string; sql: string; params?: string[] },
  racers: (() => Promise<T>)[],
): Promise<T[]> {
  const holder = await openTestPostgres({ path, clock: systemClock() })
  try {
    const letGo = Promise.withResolvers<void>()
    const held = Promise.withResolvers<void>()
    const holding = holder.transaction(async (tx) => {
      await tx.all(sql, ...params)
      held.resolve()
      await letGo.promise
    })
    await Promise.race([held.promise, holding])
    const waiting = `SELECT count(DISTINCT pid) AS n FROM pg_locks JOIN pg_stat_activity USING (pid)
      WHERE NOT granted AND datname = current_database()`
    const racing: Promise<T>[] = []
    for (const begin of racers) {
      racing.push(begin())
      while ((await holder.read.get<{ n: number }>(waiting))!.n < racing.length) {}
    }
    letGo.resolve()
    await holding
    return await Promise.all(racing)
  } finally {
    await holder.close()
  }
}
