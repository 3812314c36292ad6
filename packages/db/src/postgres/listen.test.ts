import { Socket } from 'node:net'
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { silentProxy } from '../../testing/cutting-proxy.ts'
import { describeOnPostgres, temporaryPostgres } from '../../testing/postgres.ts'
import { systemClock } from '../clock.ts'
import { openPostgres, type PostgresOptions } from './database.ts'

describeOnPostgres('listen', () => {
  let url: string
  beforeAll(async () => {
    url = await temporaryPostgres()
  })

  function opened(options: Partial<PostgresOptions> = {}) {
    const db = openPostgres({ url, clock: systemClock(), ...options })
    onTestFinished(() => db.close())
    return db
  }

  /** Counts the calls; `next` resolves with the one after those that were there when it was asked. */
  function bell() {
    let rung = Promise.withResolvers<void>()
    return {
      ring: () => {
        rung.resolve()
        rung = Promise.withResolvers()
      },
      next: () => rung.promise,
    }
  }

  test('calls when somebody has notified, once the notifying transaction is there', async () => {
    const [db, other] = [opened(), opened()]
    const { ring, next } = bell()
    const listener = (await db.listen('notes', ring))!
    const heard = next()
    await other.transaction((tx) => tx.all("SELECT pg_notify('notes', '')"))
    await heard
    await listener.close()
  })

  test('when the connection is lost it is made again, and calls, since nobody knows what was missed', async () => {
    const [db, other] = [opened(), opened()]
    const { ring, next } = bell()
    const listener = (await db.listen('notes', ring))!
    const again = next()
    const { rows } = await other.transaction((tx) =>
      tx.client.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE query LIKE 'LISTEN%' AND datname = current_database()`,
      ),
    )
    expect(rows).toHaveLength(1)
    await again
    const heard = next()
    await other.transaction((tx) => tx.all("SELECT pg_notify('notes', '')"))
    await heard
    await listener.close()
  })

  test('a server that is gone without a word keeps nobody from leaving', async () => {
    const wire = await silentProxy(url)
    const listener = (await opened({ url: wire.url }).listen('notes', () => {}))!
    wire.silence()
    await listener.close()
  })

  test('a server that falls silent while it is told to: StoreUnavailable', async () => {
    const wire = await silentProxy(url)
    wire.silenceAt('LISTEN')
    const listening = opened({ url: wire.url, connectMs: 100 }).listen('notes', () => {})
    await expect(listening).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', reason: 'missing' })
  })

  test('a connection on which nothing happens is kept from being forgotten on the way', async () => {
    const kept = vi.spyOn(Socket.prototype, 'setKeepAlive')
    onTestFinished(() => kept.mockRestore())
    const listener = (await opened().listen('notes', () => {}))!
    expect(kept.mock.calls).toEqual([[true, 60_000]])
    await listener.close()
  })

  test('behind a pooler without a way around it there is nothing to listen to', async () => {
    expect(await opened({ isPooled: true }).listen('notes', () => {})).toBeNull()
  })
})
