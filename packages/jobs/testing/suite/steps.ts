import { expect } from 'vitest'
import type { AllowanceUse } from '../../src/allowance.ts'
import type { Claim } from '../../src/job.ts'
import type { Contract } from './contract.ts'
import { LEASE_MS, rolledBack, type Scene, SUCCEEDED } from './scene.ts'

const USE: AllowanceUse = { allowance: 'vision', limit: 10, per: 'day' }
const PAID = { name: 'estimate', use: USE }
const DAY = '2026-01-01'

/** How the tenant's allowance stands, without when it is reset. */
export async function standing<Tx>(scene: Scene<Tx>, tenant = 'alice') {
  const { used, reserved, unknown } = await scene.store.allowance({ tenant, allowance: 'vision', per: 'day' })
  return { used, reserved, unknown }
}

/** The job of `claim` under its next attempt: the one before is gone without a word. */
async function nextAttempt<Tx>(scene: Scene<Tx>, claim: Claim): Promise<Claim> {
  scene.clock.advance(LEASE_MS)
  const next = await scene.claimOne()
  expect(next.job.id).toBe(claim.job.id)
  return next
}

export function stepTests<Tx>({ holds }: Contract<Tx>): void {
  holds('steps: a free one is only looked up, until its result is stored', async (scene) => {
    const { store } = scene
    const claim = await scene.claimed()
    expect(await store.openStep(claim, { name: 'title' })).toEqual({ state: 'open' })
    expect(await store.steps(claim.job.id)).toEqual([])
    const result = { title: 'ü €𝄞 \u0000', words: [1, null] }
    scene.clock.advance(5)
    expect(await store.recordStep(claim, 'title', { state: 'settled', result })).toBe('stored')
    expect(await store.openStep(claim, { name: 'title' })).toEqual({ state: 'settled', result })
    expect(await store.steps(claim.job.id)).toEqual([
      {
        ...{ name: 'title', state: 'settled', epoch: 1, allowance: null, period: null, providerId: null },
        ...{ result, uses: 0, openedAtMs: scene.clock.nowMs(), changedAtMs: scene.clock.nowMs() },
      },
    ])
  })

  holds('steps: a result that is null is a result', async (scene) => {
    const claim = await scene.claimed()
    await scene.store.recordStep(claim, 'title', { state: 'settled', result: null })
    expect(await scene.store.openStep(claim, { name: 'title' })).toEqual({ state: 'settled', result: null })
  })

  holds(
    'steps: a stored result is found by later attempts and generations, through any connection',
    async (scene) => {
      const { store, second } = scene
      const first = await scene.claimed()
      await store.recordStep(first, 'title', { state: 'settled', result: 'once' })
      const next = await nextAttempt(scene, first)
      expect(await second.openStep(next, { name: 'title' })).toEqual({ state: 'settled', result: 'once' })
      await store.publish(next, { state: 'dead', reason: 'http_404' })
      await scene.change((tx) => store.repair(tx, first.job.id))
      const repaired = await scene.claimOne()
      expect(await store.openStep(repaired, { name: 'title' })).toEqual({ state: 'settled', result: 'once' })
      expect(await store.openStep(repaired, { ...PAID, name: 'title' })).toMatchObject({ state: 'settled' })
      expect(await standing(scene)).toEqual({ used: 0, reserved: 0, unknown: 0 })
    },
  )

  holds('steps: what is settled stays as it is, whatever is said later', async (scene) => {
    const { store } = scene
    const claim = await scene.claimed()
    await store.openStep(claim, PAID)
    await store.recordStep(claim, 'estimate', { state: 'settled', result: 'first' })
    const before = await store.steps(claim.job.id)
    scene.clock.advance(1_000)
    for (const change of [
      { state: 'settled', result: 'first' },
      { state: 'settled', result: 'second' },
      { state: 'submitted', providerId: 'late' },
      { state: 'refunded', reason: 'late' },
    ] as const) {
      expect(await store.recordStep(claim, 'estimate', change)).toBe('stored')
    }
    expect(await store.steps(claim.job.id)).toEqual(before)
    expect(await standing(scene)).toEqual({ used: 1, reserved: 0, unknown: 0 })
  })

  holds('steps: a paid one is counted and recorded before the call', async (scene) => {
    const { store } = scene
    const claim = await scene.claimed()
    const nowMs = scene.clock.nowMs()
    expect(await store.openStep(claim, PAID)).toEqual({ state: 'open' })
    expect(await store.steps(claim.job.id)).toEqual([
      {
        ...{ name: 'estimate', state: 'reserved', epoch: 1, allowance: 'vision', period: DAY },
        ...{ providerId: null, result: null, uses: 1, openedAtMs: nowMs, changedAtMs: nowMs },
      },
    ])
    expect(await standing(scene)).toEqual({ used: 0, reserved: 1, unknown: 0 })
  })

  holds('steps: opening it again in the same attempt is a repeat: open, and counted once', async (scene) => {
    const { store, second } = scene
    const claim = await scene.claimed()
    await store.openStep(claim, PAID)
    expect(await store.openStep(claim, PAID)).toEqual({ state: 'open' })
    expect(await second.openStep(claim, { ...PAID, evenIfUnknown: true })).toEqual({ state: 'open' })
    expect(await standing(scene)).toEqual({ used: 0, reserved: 1, unknown: 0 })
    expect(await store.steps(claim.job.id)).toMatchObject([{ uses: 1 }])
  })

  holds('steps: opened twice at once it is counted once', async (scene) => {
    const claim = await scene.claimed()
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) => (n % 2 ? scene.second : scene.store).openStep(claim, PAID)),
    )
    expect(answers).toEqual(answers.map(() => ({ state: 'open' })))
    expect(await standing(scene)).toEqual({ used: 0, reserved: 1, unknown: 0 })
  })

  holds('steps: settled, its use is used', async (scene) => {
    const { store, clock } = scene
    const claim = await scene.claimed()
    await store.openStep(claim, PAID)
    const openedAtMs = clock.nowMs()
    clock.advance(700)
    expect(await store.recordStep(claim, 'estimate', { state: 'settled', result: 7 })).toBe('stored')
    expect(await store.steps(claim.job.id)).toMatchObject([
      { state: 'settled', result: 7, uses: 1, period: DAY, openedAtMs, changedAtMs: clock.nowMs() },
    ])
    expect(await standing(scene)).toEqual({ used: 1, reserved: 0, unknown: 0 })
  })

  holds('steps: submitted, a later attempt gets the provider’s id and settles it', async (scene) => {
    const { store } = scene
    const first = await scene.claimed()
    await store.openStep(first, PAID)
    expect(await store.recordStep(first, 'estimate', { state: 'submitted', providerId: 'p-1' })).toBe(
      'stored',
    )
    expect(await standing(scene)).toEqual({ used: 0, reserved: 1, unknown: 0 })
    expect(await store.openStep(first, PAID)).toEqual({ state: 'submitted', providerId: 'p-1' })
    const next = await nextAttempt(scene, first)
    expect(await store.openStep(next, PAID)).toEqual({ state: 'submitted', providerId: 'p-1' })
    expect(await store.openStep(next, { ...PAID, evenIfUnknown: true })).toMatchObject({ state: 'submitted' })
    expect(await store.recordStep(next, 'estimate', { state: 'settled', result: 7 })).toBe('stored')
    expect(await store.steps(first.job.id)).toMatchObject([
      { state: 'settled', epoch: 2, providerId: 'p-1', result: 7, uses: 1 },
    ])
    expect(await standing(scene)).toEqual({ used: 1, reserved: 0, unknown: 0 })
  })

  holds('steps: saying the same again changes nothing and answers stored', async (scene) => {
    const { store, clock } = scene
    const claim = await scene.claimed()
    await store.openStep(claim, PAID)
    for (const change of [
      { state: 'submitted', providerId: 'p-1' },
      { state: 'refunded', reason: 'http_503' },
    ] as const) {
      await store.recordStep(claim, 'estimate', change)
      const before = [await store.steps(claim.job.id), await standing(scene)]
      clock.advance(10)
      expect(await store.recordStep(claim, 'estimate', change)).toBe('stored')
      expect([await store.steps(claim.job.id), await standing(scene)]).toEqual(before)
    }
  })

  holds('steps: refunded, its use is given back and it may be opened anew', async (scene) => {
    const { store } = scene
    const claim = await scene.claimed()
    await store.openStep(claim, PAID)
    await store.recordStep(claim, 'estimate', { state: 'submitted', providerId: 'p-1' })
    expect(await store.recordStep(claim, 'estimate', { state: 'refunded', reason: 'http_503' })).toBe(
      'stored',
    )
    expect(await standing(scene)).toEqual({ used: 0, reserved: 0, unknown: 0 })
    expect(await store.steps(claim.job.id)).toMatchObject([{ state: 'refunded', uses: 1 }])
    const next = await nextAttempt(scene, claim)
    expect(await store.openStep(next, PAID)).toEqual({ state: 'open' })
    expect(await store.steps(claim.job.id)).toMatchObject([
      { state: 'reserved', epoch: 2, uses: 2, providerId: null },
    ])
    expect(await standing(scene)).toEqual({ used: 0, reserved: 1, unknown: 0 })
  })

  holds('steps: reserved by an attempt that is gone, it is unknown whether it was billed', async (scene) => {
    const { store, clock } = scene
    const first = await scene.claimed()
    await store.openStep(first, PAID)
    const next = await nextAttempt(scene, first)
    for (let n = 0; n < 2; n++) {
      expect(await store.openStep(next, PAID)).toEqual({ state: 'unknown' })
      expect(await standing(scene)).toEqual({ used: 0, reserved: 0, unknown: 1 })
    }
    expect(await store.openStep(next, { name: 'estimate' })).toEqual({ state: 'unknown' })
    expect(await store.steps(first.job.id)).toMatchObject([
      { state: 'unknown', epoch: 1, uses: 1, changedAtMs: clock.nowMs() },
    ])
    expect(await scene.total('stale_publications')).toBe(0)
  })

  holds('steps: evenIfUnknown pays once more, and what is unknown stays counted', async (scene) => {
    const { store } = scene
    const first = await scene.claimed()
    await store.openStep(first, PAID)
    const next = await nextAttempt(scene, first)
    expect(await store.openStep(next, { ...PAID, evenIfUnknown: true })).toEqual({ state: 'open' })
    expect(await store.openStep(next, { ...PAID, evenIfUnknown: true })).toEqual({ state: 'open' })
    expect(await standing(scene)).toEqual({ used: 0, reserved: 1, unknown: 1 })
    expect(await store.steps(first.job.id)).toMatchObject([{ state: 'reserved', epoch: 2, uses: 2 }])
    await store.recordStep(next, 'estimate', { state: 'settled', result: 7 })
    expect(await standing(scene)).toEqual({ used: 1, reserved: 0, unknown: 1 })
  })

  for (const [change, left] of [
    [
      { state: 'settled', result: 7 },
      { used: 1, reserved: 0, unknown: 0 },
    ],
    [
      { state: 'submitted', providerId: 'p-1' },
      { used: 0, reserved: 1, unknown: 0 },
    ],
    [
      { state: 'refunded', reason: 'not_billed' },
      { used: 0, reserved: 0, unknown: 0 },
    ],
  ] as const) {
    holds(`steps: an unknown one that turns out to be ${change.state}`, async (scene) => {
      const { store } = scene
      const first = await scene.claimed()
      await store.openStep(first, PAID)
      const next = await nextAttempt(scene, first)
      await store.openStep(next, PAID)
      expect(await store.recordStep(next, 'estimate', change)).toBe('stored')
      expect(await standing(scene)).toEqual(left)
      expect(await store.steps(first.job.id)).toMatchObject([{ state: change.state, epoch: 2, uses: 1 }])
    })
  }

  holds('steps: a refunded one that was billed after all is counted', async (scene) => {
    const { store } = scene
    const claim = await scene.claimed()
    await store.openStep(claim, PAID)
    await store.recordStep(claim, 'estimate', { state: 'refunded', reason: 'timeout' })
    await store.recordStep(claim, 'estimate', { state: 'settled', result: 7 })
    expect(await standing(scene)).toEqual({ used: 1, reserved: 0, unknown: 0 })
  })

  holds('steps: the refund of one that was never opened leaves nothing', async (scene) => {
    const claim = await scene.claimed()
    expect(await scene.store.recordStep(claim, 'estimate', { state: 'refunded', reason: 'x' })).toBe('stored')
    expect(await scene.store.steps(claim.job.id)).toEqual([])
  })

  holds(
    'steps: an attempt whose lease has run out may go on as long as nobody has claimed',
    async (scene) => {
      const { store } = scene
      const claim = await scene.claimed()
      scene.clock.advance(LEASE_MS)
      expect(await store.openStep(claim, PAID)).toEqual({ state: 'open' })
      expect(await store.recordStep(claim, 'estimate', { state: 'settled', result: 7 })).toBe('stored')
      expect((await nextAttempt(scene, claim)).epoch).toBe(2)
      expect(await scene.total('stale_publications')).toBe(0)
    },
  )

  holds('steps: an older epoch has lost, is counted, and changes nothing', async (scene) => {
    const { store, second } = scene
    const old = await scene.claimed()
    await store.openStep(old, PAID)
    await store.recordStep(old, 'estimate', { state: 'submitted', providerId: 'p-1' })
    await nextAttempt(scene, old)
    const before = [await store.steps(old.job.id), await standing(scene)]
    expect(await store.openStep(old, PAID)).toEqual({ state: 'lost' })
    expect(await store.openStep(old, { name: 'another', use: USE })).toEqual({ state: 'lost' })
    expect(await second.openStep(old, { name: 'free' })).toEqual({ state: 'lost' })
    expect(await store.recordStep(old, 'estimate', { state: 'settled', result: 'late' })).toBe('lost')
    expect(await store.recordStep(old, 'estimate', { state: 'refunded', reason: 'late' })).toBe('lost')
    expect(await second.recordStep(old, 'free', { state: 'settled', result: 'late' })).toBe('lost')
    expect([await store.steps(old.job.id), await standing(scene)]).toEqual(before)
    expect(await scene.total('stale_publications')).toBe(6)
  })

  for (const ending of [
    SUCCEEDED,
    { state: 'ready', outcome: 'released' },
    { state: 'ready', outcome: 'retried', runAtMs: 0, reason: 'timeout' },
  ] as const) {
    const name = 'outcome' in ending ? ending.outcome : ending.state
    holds(`steps: an attempt that was ${name} opens none, but may say what it paid for`, async (scene) => {
      const { store } = scene
      const claim = await scene.claimed()
      await store.openStep(claim, PAID)
      await store.publish(claim, ending)
      expect(await store.openStep(claim, { ...PAID, name: 'another' })).toEqual({ state: 'lost' })
      expect(await store.recordStep(claim, 'estimate', { state: 'settled', result: 7 })).toBe('stored')
      expect(await store.steps(claim.job.id)).toMatchObject([{ name: 'estimate', result: 7 }])
      expect(await standing(scene)).toEqual({ used: 1, reserved: 0, unknown: 0 })
    })
  }

  holds('steps: so does one whose job was cancelled under it', async (scene) => {
    const { store } = scene
    const claim = await scene.claimed()
    await store.openStep(claim, PAID)
    await scene.change((tx) => store.cancel(tx, claim.job.id))
    expect(await store.openStep(claim, { ...PAID, name: 'another' })).toEqual({ state: 'lost' })
    expect(await store.recordStep(claim, 'estimate', { state: 'settled', result: 7 })).toBe('stored')
    expect(await standing(scene)).toEqual({ used: 1, reserved: 0, unknown: 0 })
  })

  holds('steps: a job’s own, in order of name', async (scene) => {
    const { store, second } = scene
    const first = await scene.claimed()
    const other = await scene.claimed()
    for (const name of ['b', 'a', 'c'])
      await store.recordStep(first, name, { state: 'settled', result: name })
    expect(await store.openStep(other, { name: 'a' })).toEqual({ state: 'open' })
    expect((await second.steps(first.job.id)).map((one) => one.name)).toEqual(['a', 'b', 'c'])
    expect(await store.steps(other.job.id)).toEqual([])
    expect(await store.steps('job-none')).toEqual([])
  })

  holds('steps: forgetting the subject removes them, and gives no money back', async (scene) => {
    const { store } = scene
    const claim = await scene.claimed({ subject: 'bookmark-1' })
    await store.openStep(claim, PAID)
    await store.recordStep(claim, 'estimate', { state: 'settled', result: 'what she ate' })
    await store.openStep(claim, { ...PAID, name: 'another' })
    const before = await store.steps(claim.job.id)
    await rolledBack(store, (tx) => store.forget(tx, 'bookmark-1'))
    expect(await store.steps(claim.job.id)).toEqual(before)
    await scene.change((tx) => store.forget(tx, 'bookmark-1'))
    expect(await store.steps(claim.job.id)).toEqual([])
    expect(await standing(scene)).toEqual({ used: 1, reserved: 1, unknown: 0 })
    // And what arrives late does not bring them back.
    expect(await store.recordStep(claim, 'another', { state: 'settled', result: 'late' })).toBe('lost')
    expect(await store.openStep(claim, { name: 'free' })).toEqual({ state: 'lost' })
    expect(await store.steps(claim.job.id)).toEqual([])
    expect(await scene.total('stale_publications')).toBe(2)
  })

  holds('steps: forgetting the tenant removes those of the jobs that go', async (scene) => {
    const { store } = scene
    const ended = await scene.claimed()
    await store.recordStep(ended, 'title', { state: 'settled', result: 1 })
    await store.publish(ended, SUCCEEDED)
    const running = await scene.claimed()
    await store.openStep(running, PAID)
    await scene.change((tx) => store.forgetTenant(tx, 'alice'))
    expect(await store.steps(ended.job.id)).toHaveLength(1)
    expect(await store.steps(running.job.id)).toEqual([])
    expect(await standing(scene)).toEqual({ used: 0, reserved: 1, unknown: 0 })
  })
}
