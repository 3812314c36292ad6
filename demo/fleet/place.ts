import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { RedisServer, redisProgram } from '../../packages/cache/testing/redis-server.ts'
import { Instance } from './instance.ts'

export interface PlaceOptions {
  instances: number
  /** What the whole fleet may ask of the database in any second. */
  budget: number
  /** Further settings of all instances. */
  env?: Record<string, string>
}

/** How long a reader waits at most; Garner's own default. */
export const PATIENCE_MS = 250

/** The third instance lives an hour ahead of the others. */
const AHEAD = { place: 2, seconds: '3600' }

/** Everything that runs: a folder with the database, the shared cache, the instances; and what can be done to them. */
export class Place {
  readonly logDir: string
  readonly #folder = mkdtempSync(join(tmpdir(), 'garner-demo-'))
  readonly #options: PlaceOptions
  readonly cache: RedisServer | null
  readonly instances: Instance[] = []
  readonly #gone: Instance[] = []
  #started = 0
  #lock: DatabaseSync | null = null

  private constructor(options: PlaceOptions, cache: RedisServer | null) {
    this.#options = options
    this.cache = cache
    this.logDir = join(this.#folder, 'origin-reads')
    mkdirSync(this.logDir)
  }

  /** Empty, with as many instances as were asked for. Errors: what one of them said when it did not start. */
  static async open(options: PlaceOptions): Promise<Place> {
    const place = new Place(options, redisProgram === null ? null : await RedisServer.start())
    try {
      // The first one makes the tables.
      await place.startOne()
      while (place.instances.length < options.instances)
        await Promise.all(
          [1, 2].slice(0, options.instances - place.instances.length).map(() => place.startOne()),
        )
      return place
    } catch (error) {
      await place.close()
      throw error
    }
  }

  /** A place for as long as `work` takes; nothing of it is left, also when it is interrupted (exit code 130). */
  static async during<T>(options: PlaceOptions, work: (place: Place) => Promise<T>): Promise<T> {
    const place = await Place.open(options)
    const stop = () => void place.close().then(() => process.exit(130))
    process.once('SIGINT', stop)
    try {
      return await work(place)
    } finally {
      process.removeListener('SIGINT', stop)
      await place.close()
    }
  }

  async startOne(): Promise<Instance> {
    const number = this.#started++
    const instance = await Instance.start({
      name: `instance-${number + 1}`,
      dataDir: join(this.#folder, 'data'),
      logDir: this.logDir,
      env: {
        GARNER_ORIGIN_READS_PER_SECOND: String(this.#options.budget),
        GARNER_READ_WAIT_MS: String(PATIENCE_MS),
        GARNER_MAX_PENDING: '1000000',
        ...this.#options.env,
        ...(this.cache && { GARNER_CACHE_URL: this.cache.url }),
        ...(number === AHEAD.place && { GARNER_CLOCK_ADVANCE_S: AHEAD.seconds }),
      },
    })
    this.instances.push(instance)
    return instance
  }

  /** Cut off, as by the machine's own hand. */
  killOne(): void {
    const instance = this.instances.shift()
    if (!instance) return
    instance.signal('SIGKILL')
    this.#gone.push(instance)
  }

  /** From now on nobody can write to the database, shares included; reading goes on. */
  lock(): void {
    const db = new DatabaseSync(join(this.#folder, 'data', 'garner.db'))
    db.exec('PRAGMA busy_timeout = 5000; BEGIN IMMEDIATE')
    this.#lock = db
  }

  unlock(): void {
    this.#lock?.exec('ROLLBACK')
    this.#lock?.close()
    this.#lock = null
  }

  async close(): Promise<void> {
    this.unlock()
    await Promise.all([...this.instances, ...this.#gone].map((one) => one.stop()))
    await this.cache?.close()
    rmSync(this.#folder, { recursive: true, force: true })
  }
}
