import type { ManualClock } from '@garner/db'
import { expect, test } from 'vitest'
import type { Bounds } from '../../src/rank.ts'
import type { JobStore } from '../../src/store.ts'
import { Scene } from './scene.ts'

/** What `open` hands over: an empty store and the means to look at it from outside. */
export interface StoreUnderTest<Tx> {
  store: JobStore<Tx>
  /** Another JobStore on the same data through a connection of its own; none where there is only one. */
  second?: JobStore<Tx> | undefined
  /**
   * Resolves once what was asked of the second has got as far as it can while a transaction of the first is open.
   * For a second that works elsewhere, in another process; without it, ten turns of this event loop are given.
   */
  letSecondGoOn?: (() => Promise<void>) | undefined
  /** The store's own clock, and the second's. */
  clock: ManualClock
  /** Rows of the caller's own, in the same transactions: what a handler would write. */
  caller: { write(tx: Tx, text: string): Promise<void>; rows(): Promise<string[]> }
  close(): Promise<void>
}

export type OpenStore<Tx> = (options: { bounds: Bounds; retryAfterMs: number }) => Promise<StoreUnderTest<Tx>>

export interface Deviation<Tx> {
  /** The full name of the suite's test that does not hold. */
  test: string
  reason: string
  /** What happens instead. */
  instead: (scene: Scene<Tx>) => Promise<void>
}

export interface Contract<Tx> {
  /** One sentence of the contract as a test, on a store of its own. */
  holds(name: string, body: (scene: Scene<Tx>) => Promise<void>, bounds?: Partial<Bounds>): void
  assertDeviationsAreUsed(): void
}

export function contractOf<Tx>(open: OpenStore<Tx>, deviations: Deviation<Tx>[]): Contract<Tx> {
  const names = new Set<string>()
  return {
    holds(name, body, bounds = {}) {
      names.add(name)
      const deviation = deviations.find((one) => one.test === name)
      const title = deviation ? `${name} (it does not: ${deviation.reason})` : name
      test(title, async () => {
        const opened = await open({
          bounds: { perTenant: 10_000, total: 100_000, ...bounds },
          retryAfterMs: 7_000,
        })
        try {
          await (deviation?.instead ?? body)(new Scene(opened))
        } finally {
          await opened.close()
        }
      })
    },
    assertDeviationsAreUsed() {
      test('every deviation names a test of this suite', () => {
        const unknown = deviations.map((one) => one.test).filter((one) => !names.has(one))
        expect(unknown).toEqual([])
      })
    },
  }
}
