import { expect } from 'vitest'
import type { Contract } from './contract.ts'
import { SUCCEEDED } from './scene.ts'

/** A minute: longer than any test lasts. */
const REST_MS = 60_000

export function listeningTests<Tx>({ holds }: Contract<Tx>): void {
  holds('listen: a worker at rest is woken by work from another connection', async (scene) => {
    const { store, second } = scene
    if (!scene.hasSecond) return // there is nobody else to hear of
    for (const submit of [
      () => scene.submit({}, second),
      () => second.accept([scene.submission()]),
      () => second.transaction((tx) => second.submitMany(tx, [scene.submission(), scene.submission()])),
    ]) {
      const woken = Promise.withResolvers<void>()
      const listening = await store.listen(() => woken.resolve())
      await listening.resting(REST_MS)
      await submit()
      await woken.promise
      await listening.close()
    }
  })

  holds('listen: so is it by a repair', async (scene) => {
    const { store, second } = scene
    if (!scene.hasSecond) return
    const dead = await scene.ended({ state: 'dead', reason: 'http_404' })
    const woken = Promise.withResolvers<void>()
    const listening = await store.listen(() => woken.resolve())
    await listening.resting(REST_MS)
    await second.transaction((tx) => second.repair(tx, dead.id))
    await woken.promise
    await listening.close()
  })

  holds(
    'listen: is a hint and nothing else: without it, busy or closed, the work is found',
    async (scene) => {
      const { store, second } = scene
      const listening = await store.listen(() => {})
      await listening.resting(REST_MS)
      await listening.busy()
      const first = await scene.submit({}, second)
      expect(await scene.nextDue()).toBe(0)
      expect((await scene.claimOne()).job.id).toBe(first.id)
      await listening.resting(REST_MS)
      await listening.close()
      await scene.submit({}, second)
      expect(await store.publish(await scene.claimOne(), SUCCEEDED)).toBe('published')
    },
  )
}
