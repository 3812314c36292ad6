import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Listening, LookRequest, News, SharedEntries } from '../src/store.ts'

export interface EntriesUnderTest {
  entries: SharedEntries
  /** The same entries as another process sees them; the same object where there is only one. */
  second: SharedEntries
  /** Lets `ms` pass by the store's own clock. */
  pass: (ms: number) => Promise<void>
  /** Lets news that were told reach those who listen. */
  settle: () => Promise<void>
  close(): Promise<void>
}

export interface SharedEntriesSuite {
  name: string
  /** Opens an empty store. Called once for each test. */
  open: () => Promise<EntriesUnderTest>
}

const AT = '7:group-1the list'
const LEASE_MS = 300
const bytes = (text: string) => new TextEncoder().encode(text)
const LARGEST = Number.MAX_SAFE_INTEGER

/** The conformance suite of `SharedEntries` (src/store.ts). Call it at the top of a Vitest file. */
export function describeSharedEntries({ name, open }: SharedEntriesSuite): void {
  describe(`shared entries: ${name}`, () => {
    let scene: EntriesUnderTest
    beforeEach(async () => {
      scene = await open()
    })
    afterEach(() => scene.close())

    const look = (token: string, part: Partial<LookRequest> = {}, entries = scene.entries) =>
      entries.look(AT, {
        ...{ minVersion: 0, floor: part.minVersion ?? 0, freshMs: 5_000, token, leaseMs: LEASE_MS },
        ...part,
      })
    const store = (token: string, version: number, part: { ageMs?: number; keepMs?: number } = {}) =>
      scene.entries.store(AT, {
        token,
        version,
        ageMs: 0,
        keepMs: 60_000,
        bytes: bytes(`v${version}`),
        ...part,
      })
    const filled = async (version: number, part: { ageMs?: number; keepMs?: number } = {}) => {
      const { fill } = await look('first', { floor: version })
      expect(fill).toBe('yours')
      expect(await store('first', version, part)).toBe('stored')
    }

    test('of all who look for what is not there one fills, the others are told how long its lease lasts', async () => {
      const looks = await Promise.all(
        Array.from({ length: 10 }, (_, n) => look(`t${n}`, {}, n % 2 ? scene.entries : scene.second)),
      )
      expect(looks.filter((one) => one.fill === 'yours')).toHaveLength(1)
      for (const { fill, copy, leaseMs } of looks) {
        expect(copy).toBeNull()
        expect(leaseMs).toBeLessThanOrEqual(LEASE_MS)
        expect(fill === 'yours' || leaseMs > LEASE_MS / 3).toBe(true)
      }
    })

    test('a copy that is stored is there for all, byte for byte, with its version and its age', async () => {
      expect((await look('a', {}, scene.second)).fill).toBe('yours')
      const all = Uint8Array.from({ length: 256 }, (_, n) => n)
      await scene.second.store(AT, { token: 'a', version: 7, ageMs: 1_000, keepMs: 60_000, bytes: all })
      const { copy, fill, leaseMs } = await look('b')
      expect(fill).toBe('unneeded')
      expect(leaseMs).toBe(0)
      expect(copy!.version).toBe(7)
      expect([...copy!.bytes]).toEqual([...all])
      expect(copy!.ageMs).toBeGreaterThanOrEqual(1_000)
      expect(copy!.ageMs).toBeLessThan(2_000)
    })

    test('versions up to the largest whole number are exact', async () => {
      await filled(LARGEST)
      expect((await look('b', { minVersion: LARGEST })).copy!.version).toBe(LARGEST)
      await scene.entries.invalidate(AT, { version: LARGEST - 1, keepMs: 60_000 })
      expect(await look('b', { minVersion: LARGEST - 1 })).toMatchObject({
        floor: LARGEST - 1,
        fill: 'unneeded',
      })
    })

    test('ages go on with the store’s own clock', async () => {
      await filled(1)
      await scene.pass(150)
      expect((await look('b')).copy!.ageMs).toBeGreaterThanOrEqual(149)
    })

    test('a copy beyond its freshness is answered, and one of those who look fills', async () => {
      await filled(1, { ageMs: 5_000 })
      const first = await look('b')
      expect(first).toMatchObject({ fill: 'yours', copy: { version: 1 } })
      expect(await look('c')).toMatchObject({ fill: 'others', copy: { version: 1 } })
    })

    test('a copy is gone when it may not be served any more', async () => {
      await filled(1, { keepMs: 100 })
      await scene.pass(120)
      expect(await look('b')).toMatchObject({ copy: null, fill: 'yours' })
    })

    test('a lease that runs out lets another in, and its load is not kept', async () => {
      await look('slow')
      await scene.pass(LEASE_MS + 20)
      expect((await look('next')).fill).toBe('yours')
      expect(await store('slow', 1)).toBe('overtaken')
      expect(await store('next', 1)).toBe('stored')
    })

    test('a lease that has run out is over, also when nobody else has taken it', async () => {
      await look('slow')
      await scene.pass(LEASE_MS + 20)
      expect(await store('slow', 1)).toBe('overtaken')
    })

    test('a lease that was released is free at once', async () => {
      await look('first')
      await scene.entries.release(AT, 'first')
      expect((await look('second')).fill).toBe('yours')
    })

    test('who has the lease and looks again has it still', async () => {
      await look('first')
      expect((await look('first')).fill).toBe('yours')
      expect((await look('second')).fill).toBe('others')
    })

    test('releasing another’s lease does nothing', async () => {
      await look('first')
      await scene.entries.release(AT, 'someone')
      expect((await look('second')).fill).toBe('others')
      expect(await store('first', 1)).toBe('stored')
    })

    test('nothing is stored without a lease', async () => {
      expect(await store('nobody', 1)).toBe('overtaken')
      await filled(1)
      expect(await store('first', 2)).toBe('overtaken')
      expect((await look('b')).copy!.version).toBe(1)
    })

    test('a reader who needs more than a lease’s load has seen takes it over', async () => {
      await look('old', { floor: 5 })
      expect((await look('same', { floor: 5 })).fill).toBe('others')
      expect((await look('own', { floor: 6 })).fill).toBe('yours')
      expect(await store('old', 5)).toBe('overtaken')
      expect(await store('own', 6)).toBe('stored')
    })

    test('a copy below what the reader must see is not answered', async () => {
      await filled(5)
      expect(await look('b', { minVersion: 6 })).toMatchObject({ copy: null, fill: 'yours' })
    })

    test('a copy that would do for now is answered to who fills up to a later version', async () => {
      await filled(5)
      expect(await look('b', { minVersion: 5, floor: 6 })).toMatchObject({
        copy: { version: 5 },
        fill: 'yours',
      })
    })

    test('a version that was said to exist makes older copies outdated, not gone', async () => {
      await filled(5)
      await scene.second.invalidate(AT, { version: 6, keepMs: 60_000 })
      expect(await look('b')).toMatchObject({ copy: { version: 5 }, floor: 6, fill: 'yours' })
    })

    test('a load that began before an invalidation is not kept, one after it is', async () => {
      await look('before')
      await scene.second.invalidate(AT, { version: 6, keepMs: 60_000 })
      expect((await look('after')).fill).toBe('yours')
      expect(await store('before', 5)).toBe('overtaken')
      expect(await store('after', 6)).toBe('stored')
    })

    test('a load for the invalidated version itself goes on', async () => {
      await look('own', { floor: 6 })
      await scene.entries.invalidate(AT, { version: 6, keepMs: 60_000 })
      expect((await look('b')).fill).toBe('others')
      expect(await store('own', 6)).toBe('stored')
    })

    test('what is behind the known version is not stored, and others can try at once', async () => {
      await scene.entries.invalidate(AT, { version: 6, keepMs: 60_000 })
      expect((await look('lagging')).fill).toBe('yours')
      expect(await store('lagging', 5)).toBe('overtaken')
      expect((await look('b')).fill).toBe('yours')
    })

    test('what is behind a copy that is there is not stored', async () => {
      await filled(9, { ageMs: 5_000 })
      expect((await look('lagging')).fill).toBe('yours')
      expect(await store('lagging', 8)).toBe('overtaken')
      expect((await look('b')).copy!.version).toBe(9)
    })

    test('known versions only grow, and are remembered for as long as was asked', async () => {
      await scene.entries.invalidate(AT, { version: 6, keepMs: 400 })
      await scene.entries.invalidate(AT, { version: 4, keepMs: 100 })
      expect((await look('b')).floor).toBe(6)
      await scene.pass(200)
      expect((await look('c')).floor).toBe(6)
      await scene.pass(220)
      expect((await look('d')).floor).toBe(0)
    })

    test('what is forgotten is gone, and no load that had begun is kept', async () => {
      await filled(5, { ageMs: 5_000 })
      await look('before')
      await scene.second.forget(AT, { version: 0, keepMs: 60_000 })
      expect(await store('before', 5)).toBe('overtaken')
      expect(await look('b')).toMatchObject({ copy: null, fill: 'yours' })
    })

    test('forgetting with a version remembers it', async () => {
      await filled(5)
      await scene.entries.forget(AT, { version: 8, keepMs: 60_000 })
      expect(await look('b')).toMatchObject({ copy: null, floor: 8 })
    })

    test('keys know nothing of each other', async () => {
      await filled(5)
      await scene.entries.forget('7:group-1another', { version: 9, keepMs: 60_000 })
      expect(await look('b')).toMatchObject({ copy: { version: 5 }, floor: 0, fill: 'unneeded' })
    })

    test('everything that happens is told to all who listen', async () => {
      const here: News[] = []
      const there: News[] = []
      const ears: Listening[] = [
        scene.entries.listen((news) => here.push(news)),
        scene.second.listen((news) => there.push(news)),
      ]
      await scene.settle()
      await filled(5)
      await look('b', { floor: 6 })
      await scene.entries.release(AT, 'b')
      await scene.entries.invalidate(AT, { version: 7, keepMs: 60_000 })
      await scene.entries.forget(AT, { version: 8, keepMs: 60_000 })
      await scene.settle()
      const told = [
        { kind: 'filled', address: AT },
        { kind: 'freed', address: AT },
        { kind: 'outdated', address: AT, version: 7 },
        { kind: 'forgotten', address: AT, version: 8 },
      ]
      expect(here).toEqual(told)
      expect(there).toEqual(told)
      expect(ears.every((one) => one.isUp)).toBe(true)
      for (const one of ears) await one.close()
      await scene.entries.forget(AT, { version: 9, keepMs: 60_000 })
      await scene.settle()
      expect(here).toEqual(told)
    })
  })
}
