import type { News, SharedEntries } from '@garner/cache'
import { createMemoryEntries } from '@garner/cache/memory'
import type { Life } from '../../world/machine.ts'
import type { Mutation } from '../mutants/mutant.ts'
import type { World } from '../world/world.ts'
import { keyOf } from './keys.ts'

/**
 * The shared cache: the memory entries, which are its contract as code, on one machine that may be killed, slow or
 * silent, or hand out bytes that nobody can read. Nothing that it does may cost more than origin reads within the
 * budget.
 */
export class SharedCache {
  readonly #world: World
  readonly #mutate: Mutation['entries']
  readonly #listeners = new Map<number, { life: Life; hear: (news: News) => void }>()
  #entries!: SharedEntries
  #count = 0

  constructor(world: World, mutate: Mutation['entries']) {
    this.#world = world
    this.#mutate = mutate
    this.empty()
  }

  /** It comes back knowing nothing. */
  empty(): void {
    const { timeline } = this.#world
    const clock = { nowMs: () => timeline.nowMs, monotonicMs: () => timeline.nowMs, sleep: async () => {} }
    const honest = createMemoryEntries({ clock })
    this.#entries = { ...honest, ...this.#mutate?.(honest) }
    this.#entries.listen((news) => this.#spread(news))
    this.#world.see({ what: 'emptied' })
  }

  /** The way of one life to it and back. */
  link(life: Life): SharedEntries {
    const world = this.#world
    const call = <T>(op: string, effect: () => Promise<T>): Promise<T> => {
      const n = life.machine.called(`shared ${op}`)
      if (!life.isAlive) return new Promise(() => {})
      const isDown = world.holding('shared').some(({ is }) => is === 'down' || is === 'emptied')
      if (isDown) return Promise.reject(new Error('connection refused'))
      return new Promise((resolve, reject) => {
        const arrive = async () => {
          const answer = await effect()
          life.receive(this.#wayMs(life, op, n, 'back'), () => {
            resolve(answer)
            world.see({ what: 'answered', life })
          })
        }
        life.whenRunning(
          () =>
            void world.timeline.after(this.#wayMs(life, op, n, 'there'), () => void arrive().catch(reject)),
        )
      })
    }
    return {
      look: (address, request) =>
        call('look', async () => {
          const look = await this.#entries.look(address, request)
          const { floor, token } = request
          world.note('shared', `${life.name} looks for ${keyOf(address)}: ${look.fill}`)
          world.see({ what: 'looked', life, key: keyOf(address), floor, token, look })
          const isPoisoned = look.copy && world.holding('shared').some(({ is }) => is === 'poisoned')
          return isPoisoned ? { ...look, copy: { ...look.copy!, bytes: Buffer.from('{"key":') } } : look
        }),
      store: (address, copy) =>
        call('store', async () => {
          const stored = await this.#entries.store(address, copy)
          world.see({ what: 'stored', life, key: keyOf(address), token: copy.token })
          return stored
        }),
      release: (address, token) =>
        call('release', async () => {
          await this.#entries.release(address, token)
          world.see({ what: 'released', life, key: keyOf(address), token })
        }),
      invalidate: (address, request) =>
        call('invalidate', async () => {
          await this.#entries.invalidate(address, request)
          world.see({ what: 'outdated', key: keyOf(address), version: request.version })
        }),
      forget: (address, request) =>
        call('forget', async () => {
          await this.#entries.forget(address, request)
          world.see({ what: 'forgotten', key: keyOf(address), version: request.version })
        }),
      listen: (hear) => {
        const place = this.#count++
        this.#listeners.set(place, { life, hear })
        const close = async () => void this.#listeners.delete(place)
        life.onDeath(() => void close())
        return { isUp: true, close }
      },
    }
  }

  /** News come late and out of order; while it is silent or down, never. */
  #spread(news: News): void {
    const world = this.#world
    const isSilent = world.holding('shared').some(({ is }) => is === 'silent' || is === 'down')
    if (isSilent) return
    for (const [place, { life, hear }] of this.#listeners) {
      const name = ['news', place, this.#count++] as const
      if (!world.isHealed && world.chance(...name, 'lost') < 0.02) continue
      life.receive(world.between(0, 5, ...name), () => hear(news))
    }
  }

  #wayMs(life: Life, op: string, n: number, side: string): number {
    const isSlow = this.#world.holding('shared').some(({ is }) => is === 'slow')
    return this.#world.between(0, isSlow ? 120 : 1, life.machine.name, 'shared', op, n, side)
  }
}
