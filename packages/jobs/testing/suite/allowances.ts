import { expect } from 'vitest'
import type { AllowanceUse } from '../../src/allowance.ts'
import type { Contract } from './contract.ts'
import { LEASE_MS, type Scene, SUCCEEDED } from './scene.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** The clock starts at the beginning of 2026. */
const START_MS = Date.UTC(2026, 0, 1)

const use = (limit: number, part: Partial<AllowanceUse> = {}): AllowanceUse => ({
  ...{ allowance: 'vision', limit, per: 'day' },
  ...part,
})

/** A claimed job with a step opened in it; what the opening answered. */
async function opened<Tx>(scene: Scene<Tx>, of: AllowanceUse, tenant = 'alice') {
  const claim = await scene.claimed({ tenant })
  const answer = await scene.store.openStep(claim, { name: 'estimate', use: of })
  return { claim, answer }
}

const OPEN = { state: 'open' }

export function allowanceTests<Tx>({ holds }: Contract<Tx>): void {
  holds('allowance: zeros when nothing was used, and when it is reset', async ({ store, clock }) => {
    clock.advance(DAY_MS * 40 + HOUR_MS * 5 + 17)
    const of = { tenant: 'alice', allowance: 'vision' }
    const zeros = { used: 0, reserved: 0, unknown: 0 }
    const resets = { hour: Date.UTC(2026, 1, 10, 6), day: Date.UTC(2026, 1, 11), month: Date.UTC(2026, 2, 1) }
    for (const per of ['hour', 'day', 'month'] as const) {
      expect(await store.allowance({ ...of, per })).toEqual({ ...zeros, resetsAtMs: resets[per] })
    }
  })

  holds('allowance: up to the limit and not beyond; a refusal counts and stores nothing', async (scene) => {
    const { store } = scene
    for (let n = 0; n < 2; n++) expect((await opened(scene, use(2))).answer).toEqual(OPEN)
    const { claim, answer } = await opened(scene, use(2))
    expect(answer).toEqual({ state: 'exhausted', limit: 2, resetsAtMs: START_MS + DAY_MS })
    expect(await store.steps(claim.job.id)).toEqual([])
    expect(await scene.store.allowance({ tenant: 'alice', allowance: 'vision', per: 'day' })).toEqual({
      used: 0,
      reserved: 2,
      unknown: 0,
      resetsAtMs: START_MS + DAY_MS,
    })
  })

  holds('allowance: settled and unknown uses count, refunded ones do not', async (scene) => {
    const { store } = scene
    const gone = await opened(scene, use(3))
    scene.clock.advance(LEASE_MS)
    const again = await scene.claimOne()
    expect(again.job.id).toBe(gone.claim.job.id)
    await store.openStep(again, { name: 'estimate', use: use(3) })
    const settled = await opened(scene, use(3))
    await store.recordStep(settled.claim, 'estimate', { state: 'settled', result: 1 })
    const refunded = await opened(scene, use(3))
    expect((await opened(scene, use(3))).answer).toMatchObject({ state: 'exhausted' })
    await store.recordStep(refunded.claim, 'estimate', { state: 'refunded', reason: 'http_503' })
    expect((await opened(scene, use(3))).answer).toEqual(OPEN)
    expect((await opened(scene, use(3))).answer).toMatchObject({ state: 'exhausted' })
    const { used, reserved, unknown } = await store.allowance({
      tenant: 'alice',
      allowance: 'vision',
      per: 'day',
    })
    expect({ used, reserved, unknown }).toEqual({ used: 1, reserved: 1, unknown: 1 })
  })

  holds('allowance: a tenant’s own, and of each name its own', async (scene) => {
    expect((await opened(scene, use(1), 'alice')).answer).toEqual(OPEN)
    expect((await opened(scene, use(1), 'alice')).answer).toMatchObject({ state: 'exhausted' })
    expect((await opened(scene, use(1), 'bob')).answer).toEqual(OPEN)
    expect((await opened(scene, use(1, { allowance: 'speech' }), 'alice')).answer).toEqual(OPEN)
  })

  holds('allowance: the limit is what each opening says', async (scene) => {
    expect((await opened(scene, use(0))).answer).toMatchObject({ state: 'exhausted', limit: 0 })
    for (let n = 0; n < 3; n++) await opened(scene, use(3))
    expect((await opened(scene, use(2))).answer).toMatchObject({ state: 'exhausted', limit: 2 })
    expect((await opened(scene, use(4))).answer).toEqual(OPEN)
  })

  for (const [per, ms] of [
    ['hour', HOUR_MS],
    ['day', DAY_MS],
    ['month', 31 * DAY_MS],
  ] as const) {
    holds(`allowance: by the ${per}, to the millisecond`, async (scene) => {
      const { store, clock } = scene
      const of = use(1, { per })
      const { claim } = await opened(scene, of)
      await store.recordStep(claim, 'estimate', { state: 'settled', result: 1 })
      await store.publish(claim, SUCCEEDED)
      clock.advance(ms - 1)
      const late = await opened(scene, of)
      expect(late.answer).toMatchObject({ state: 'exhausted', resetsAtMs: START_MS + ms })
      clock.advance(1)
      expect(await store.openStep(late.claim, { name: 'estimate', use: of })).toEqual(OPEN)
      expect((await store.steps(late.claim.job.id))[0]!.period).not.toBe(
        (await store.steps(claim.job.id))[0]!.period,
      )
    })
  }

  holds('allowance: a use belongs to the period that it was counted in', async (scene) => {
    const { store, clock } = scene
    const today = () => store.allowance({ tenant: 'alice', allowance: 'vision', per: 'day' })
    clock.advance(DAY_MS - 1_000)
    const before = [await opened(scene, use(3)), await opened(scene, use(3)), await opened(scene, use(3))]
    clock.advance(2_000)
    expect(await today()).toMatchObject({
      used: 0,
      reserved: 0,
      unknown: 0,
      resetsAtMs: START_MS + 2 * DAY_MS,
    })
    await store.recordStep(before[0]!.claim, 'estimate', { state: 'settled', result: 1 })
    await store.recordStep(before[1]!.claim, 'estimate', { state: 'refunded', reason: 'http_503' })
    // Opened anew, it is a use of the new day.
    expect(await store.openStep(before[1]!.claim, { name: 'estimate', use: use(1) })).toEqual(OPEN)
    expect(await today()).toMatchObject({ used: 0, reserved: 1, unknown: 0 })
    await store.recordStep(before[1]!.claim, 'estimate', { state: 'settled', result: 2 })
    expect(await today()).toMatchObject({ used: 1, reserved: 0, unknown: 0 })
    const periods = await Promise.all(
      before.map(async (one) => (await store.steps(one.claim.job.id))[0]!.period),
    )
    expect(periods).toEqual(['2026-01-01', '2026-01-02', '2026-01-01'])
    // The old day has its one settled and one reserved use, and no more than that.
    clock.jump(-2_000)
    expect(await today()).toMatchObject({ used: 1, reserved: 1, unknown: 0 })
  })

  holds('allowance: what is unknown stays in the period it was counted in', async (scene) => {
    const { store, clock } = scene
    const { claim } = await opened(scene, use(1))
    clock.advance(DAY_MS)
    const next = await scene.claimOne()
    const step = { name: 'estimate', use: use(1), evenIfUnknown: true }
    expect(await store.openStep(next, step)).toEqual(OPEN)
    expect(await store.allowance({ tenant: 'alice', allowance: 'vision', per: 'day' })).toMatchObject({
      used: 0,
      reserved: 1,
      unknown: 0,
    })
    clock.jump(-DAY_MS)
    expect(await store.allowance({ tenant: 'alice', allowance: 'vision', per: 'day' })).toMatchObject({
      used: 0,
      reserved: 0,
      unknown: 1,
    })
    expect(await store.steps(claim.job.id)).toMatchObject([{ period: '2026-01-02', uses: 2 }])
  })

  holds(
    'allowance: evenIfUnknown without room is exhausted, and the step is unknown still',
    async (scene) => {
      const { store } = scene
      const { claim } = await opened(scene, use(1))
      scene.clock.advance(LEASE_MS)
      const next = await scene.claimOne()
      const again = { name: 'estimate', use: use(1), evenIfUnknown: true }
      expect(await store.openStep(next, again)).toMatchObject({ state: 'exhausted', limit: 1 })
      expect(await store.steps(claim.job.id)).toMatchObject([{ state: 'unknown', epoch: 1, uses: 1 }])
      expect(await store.allowance({ tenant: 'alice', allowance: 'vision', per: 'day' })).toMatchObject({
        used: 0,
        reserved: 0,
        unknown: 1,
      })
      expect(await store.openStep(next, { ...again, evenIfUnknown: false })).toEqual({ state: 'unknown' })
    },
  )

  holds('allowance: racing openings through two connections stop exactly at the limit', async (scene) => {
    const { store, second } = scene
    await scene.submitMany(20)
    const claims = await scene.claim({ limit: 20 })
    const answers = await Promise.all(
      claims.map((one, n) => (n % 2 ? store : second).openStep(one, { name: 'estimate', use: use(7) })),
    )
    expect(answers.filter((one) => one.state === 'open')).toHaveLength(7)
    expect(answers.filter((one) => one.state === 'exhausted')).toHaveLength(13)
    expect(await second.allowance({ tenant: 'alice', allowance: 'vision', per: 'day' })).toMatchObject({
      used: 0,
      reserved: 7,
      unknown: 0,
    })
  })

  holds('allowance: openings, results and refunds at once leave right counts', async (scene) => {
    const { store, second } = scene
    await scene.submitMany(12)
    const claims = await scene.claim({ limit: 12 })
    const step = { name: 'estimate', use: use(100) }
    for (const one of claims.slice(0, 8)) await store.openStep(one, step)
    await Promise.all(
      claims.map((one, n) => {
        const by = n % 2 ? store : second
        if (n < 4) return by.recordStep(one, 'estimate', { state: 'settled', result: n })
        if (n < 6) return by.recordStep(one, 'estimate', { state: 'refunded', reason: 'http_503' })
        if (n < 8) return by.recordStep(one, 'estimate', { state: 'submitted', providerId: `p-${n}` })
        return by.openStep(one, step)
      }),
    )
    expect(await store.allowance({ tenant: 'alice', allowance: 'vision', per: 'day' })).toMatchObject({
      used: 4,
      reserved: 6,
      unknown: 0,
    })
  })
}
