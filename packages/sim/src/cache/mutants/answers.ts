import { type Answer, Cache, type GetOptions } from '@garner/cache'
import type { Body } from '../checks/happening.ts'
import type { Mutant } from './mutant.ts'

const OF_AGE = ['C4 bounded staleness']
const OF_WATERMARKS = ['C5 read your writes']
const OF_INVALIDATION = ['C5 an invalidation wins']

/** How old and how new an answer may be. */
export const ANSWER_MUTANTS: Mutant[] = [
  {
    name: 'age counted from the answer',
    promises: OF_AGE,
    mutation: {
      cache: ({ shared, maxAgeMs, ...options }) =>
        new Cache({
          ...{ ...options, maxAgeMs },
          shared: shared && {
            ...shared,
            store: (address, copy) => shared.store(address, { ...copy, ageMs: 0, keepMs: maxAgeMs }),
          },
        }),
    },
  },
  {
    name: 'age does not go through both tiers',
    promises: OF_AGE,
    mutation: {
      entries: (honest) => ({
        async look(address, request) {
          const look = await honest.look(address, request)
          return look.copy ? { ...look, copy: { ...look.copy, ageMs: 0 } } : look
        },
      }),
    },
  },
  {
    name: 'ages stand still while the machine sleeps',
    promises: OF_AGE,
    mutation: {
      cache: ({ clock, ...options }) =>
        new Cache({
          ...options,
          clock: {
            nowMs: () => Math.floor(clock.monotonicMs()),
            monotonicMs: () => clock.monotonicMs(),
            sleep: (ms, signal) => clock.sleep(ms, signal),
          },
        }),
    },
  },
  {
    name: 'the greatest age is not looked at',
    promises: OF_AGE,
    mutation: { cache: (options) => new Cache({ ...options, maxAgeMs: 60_000 }) },
  },
  {
    name: 'watermark ignored on join',
    promises: OF_WATERMARKS,
    mutation: { cache: (options) => new JoiningCache(options) },
  },
  {
    name: 'watermark ignored',
    promises: OF_WATERMARKS,
    mutation: {
      cache: (options) =>
        new (class extends Cache<Body> {
          override get(key: string, reader: GetOptions<Body>): Promise<Answer<Body>> {
            return super.get(key, { ...reader, minVersion: 0 })
          }
        })(options),
    },
  },
  {
    name: 'a replica’s answer passes for what was asked',
    promises: OF_WATERMARKS,
    mutation: {
      load: (honest) => async (context) => {
        const { body, version = 0 } = await honest(context)
        return { body, version: Math.max(version, context.minVersion) }
      },
    },
  },
  {
    name: 'invalidation during a load ignored',
    promises: OF_INVALIDATION,
    mutation: { cache: (options) => new DeafCache(options, 'invalidate') },
  },
  {
    name: 'forgetting during a load ignored',
    promises: OF_INVALIDATION,
    mutation: { cache: (options) => new DeafCache(options, 'forget') },
  },
  {
    name: 'the shared cache forgets nothing',
    promises: OF_INVALIDATION,
    mutation: { entries: () => ({ forget: async () => {} }) },
  },
]

/** Coalesces by key alone: whoever comes joins the load that is under way, whenever that began. */
class JoiningCache extends Cache<Body> {
  readonly #under = new Map<string, Promise<Answer<Body>>>()

  override get(key: string, reader: GetOptions<Body>): Promise<Answer<Body>> {
    const under = this.#under.get(key)
    if (under) return under
    const load: GetOptions<Body>['load'] = (context) => {
      this.#under.set(key, answer)
      return reader.load(context).finally(() => this.#under.delete(key))
    }
    const answer = super.get(key, { ...reader, load })
    return answer
  }
}

/** While a key is being loaded, nothing that is said of it is heard. */
class DeafCache extends Cache<Body> {
  readonly #isDeafTo: 'invalidate' | 'forget'
  readonly #loading = new Map<string, number>()

  constructor(options: ConstructorParameters<typeof Cache<Body>>[0], isDeafTo: 'invalidate' | 'forget') {
    super(options)
    this.#isDeafTo = isDeafTo
  }

  override get(key: string, reader: GetOptions<Body>): Promise<Answer<Body>> {
    const load: GetOptions<Body>['load'] = (context) => {
      this.#loading.set(key, (this.#loading.get(key) ?? 0) + 1)
      return reader.load(context).finally(() => this.#loading.set(key, this.#loading.get(key)! - 1))
    }
    return super.get(key, { ...reader, load })
  }

  override async invalidate(key: string, what: { scope: string; version: number }): Promise<boolean> {
    const isLoading = (this.#loading.get(key) ?? 0) > 0
    return isLoading && this.#isDeafTo === 'invalidate' ? true : super.invalidate(key, what)
  }

  override async forget(key: string, what: { scope: string; version?: number }): Promise<boolean> {
    const isLoading = (this.#loading.get(key) ?? 0) > 0
    return isLoading && this.#isDeafTo === 'forget' ? true : super.forget(key, what)
  }
}
