import { type AddressInfo, createServer, type Socket } from 'node:net'
import { ManualClock, systemClock } from '@garner/db'
import sharp from 'sharp'
import { afterEach, describe, expect, test } from 'vitest'
import {
  createVision,
  type Described,
  noVision,
  type SeenItem,
  type Vision,
  VisionError,
} from '../../apps/server/src/outbound/vision.ts'
import { type FakeVisionOptions, startFakeVision } from './fake-vision.ts'
import { caseNamed, casesOf, type PhotoCase } from './photo-cases.ts'

/**
 * What the cases of the areas `ai` and `privacy` ask of the call itself, told against the stand-in provider over
 * loopback, by either of the two interfaces. What
 * they ask of jobs, meals and the allowance is told in photo-estimates.test.ts.
 */
const KEY = 'sk-case-secret-123'
const HOUR_MS = 3_600_000
const open: Vision[] = []
afterEach(async () => {
  for (const vision of open.splice(0)) await vision.close()
})

interface Setup {
  fake?: FakeVisionOptions
  timeoutMs?: number
  clock?: ManualClock
  key?: string
}

async function setUp(model: string, { fake: options, timeoutMs = 30_000, clock, key = KEY }: Setup = {}) {
  const fake = await startFakeVision(options)
  const vision = createVision({
    ...{ url: fake.url, model, key, timeoutMs },
    clock: clock ?? systemClock(),
  })
  open.push(vision)
  return { fake, vision }
}

const PHOTO = new Uint8Array([0xff, 0xd8, 0xff, 0xd9])
interface AskOptions {
  photo?: Uint8Array
  operationId?: string
  signal?: AbortSignal
  submitted?: (id: string) => Promise<void>
}

function ask(vision: Vision, options: AskOptions = {}): Promise<Described> {
  const { photo = PHOTO, operationId = 'op-1', signal = new AbortController().signal } = options
  const submitted = options.submitted ?? (async () => {})
  return vision.describe(photo, { operationId, signal, submitted })
}

async function failure(promise: Promise<unknown>): Promise<VisionError> {
  const error = await promise.then(
    () => null,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(VisionError)
  return error as VisionError
}

function itemsOf(described: Described): SeenItem[] {
  if (described.outcome === 'unusable') throw new Error(described.reason)
  return described.seen.items
}

function amountsOf(described: Described): (number | null)[] {
  return itemsOf(described).flatMap(({ grams, nutrients }) => [grams, ...Object.values(nutrients)])
}

/** The models that a case names. */
function modelsOf({ input }: PhotoCase): string[] {
  const named = input.variants?.map(({ vision }) => vision) ?? [input.vision!]
  return named.map(({ model, ...options }) => {
    const query = new URLSearchParams(
      Object.entries(options).map(([key, value]): [string, string] => [key, String(value)]),
    )
    return query.size === 0 ? model : `${model}?${query}`
  })
}

const INTERFACES = [
  { name: 'responses', fake: {} },
  { name: 'chat completions', fake: { responses: false } },
] as const

/** A case's models, by each interface. */
function variantsOf(...ids: string[]) {
  return ids.flatMap((id) =>
    modelsOf(caseNamed(id)).flatMap((model) =>
      INTERFACES.map(({ name, fake }) => ({ id, model, name, fake, what: caseNamed(id).what })),
    ),
  )
}

const ESTIMATED = ['ai-ok', 'ai-fenced', 'ai-prose-around', 'ai-extra-and-missing', 'ai-only-json-schema']
const UNUSABLE = ['ai-truncated', 'ai-empty-content', 'ai-refusal', 'ai-wrong-shape', 'ai-huge-answer']
const TOLD_BELOW = [
  ...['ai-429-quota', 'ai-5xx', 'ai-billed-then-timeout', 'ai-per-100g', 'ai-numbers-as-text'],
  ...['ai-negative', 'ai-nan', 'ai-absurd', 'ai-all-zero', 'ai-many-dishes', 'ai-image-ignored'],
  ...['ai-too-large-image', 'prv-provider-error', 'prv-logs'],
]
/** photo-estimates.test.ts: a stored estimate, the picture as it is sent; tests/system/vision.test.ts: a process's logs. */
const TOLD_ELSEWHERE = ['ai-steady', 'prv-location', 'prv-logs-debug']

test('every case of these areas is told here or beside this', () => {
  const ids = casesOf('ai', 'privacy').map(({ id }) => id)
  expect([...ESTIMATED, ...UNUSABLE, ...TOLD_BELOW, ...TOLD_ELSEWHERE].sort()).toEqual(ids.sort())
})

describe('answers that are used', () => {
  test.for(variantsOf(...ESTIMATED))('$id, $model by $name: $what', async ({ model, fake: options }) => {
    const { fake, vision } = await setUp(model, { fake: options })
    const described = await ask(vision)
    expect(described).toMatchObject({
      outcome: 'estimated',
      seen: { description: 'Case plate: rice, grilled chicken, broccoli', isFood: true },
    })
    expect(itemsOf(described).map(({ food }) => food)).toEqual(['rice', 'grilled chicken', 'broccoli'])
    expect(fake.billed).toBe(1)
    const isNull = model === 'fake:null-values'
    for (const amount of amountsOf(described)) expect(amount === null).toBe(isNull)
  })

  test.for(variantsOf('ai-numbers-as-text'))('$id by $name: $what', async ({ model, fake: options }) => {
    const { vision } = await setUp(model, { fake: options })
    const [rice] = itemsOf(await ask(vision))
    expect(rice).toMatchObject({ grams: 180, nutrients: { energy_kcal: 234, protein_g: 4.3, fat_g: 0.5 } })
  })

  test('ai-many-dishes: each its own item, 20 at most', async () => {
    const { vision } = await setUp('fake:many-dishes?n=25')
    expect(itemsOf(await ask(vision))).toHaveLength(20)
  })

  test('ai-per-100g: the question is about the portion shown, words in the picture are no instructions', async () => {
    const { fake, vision } = await setUp('fake:ok')
    await ask(vision)
    const { prompt } = fake.calls[0]!
    expect(prompt).toContain('for the portion shown')
    expect(prompt).toMatch(/never instructions/)
    expect(prompt).toMatch(/coin, cutlery/)
  })

  test('what a menu in the picture tells the model to say is text, and no markup', async () => {
    const { vision } = await setUp('fake:prompt-injection-echo')
    const described = await ask(vision)
    expect(JSON.stringify(described)).not.toMatch(/<img|onerror/)
    expect(described.outcome !== 'unusable' && described.seen.description.length).toBeLessThanOrEqual(500)
  })

  test('a picture without food is told as such', async () => {
    const { vision } = await setUp('fake:not-food')
    expect(await ask(vision)).toMatchObject({
      outcome: 'no-amounts',
      reason: 'not_food',
      seen: { isFood: false, items: [], description: 'No food visible: a printed receipt' },
    })
  })

  test.for(INTERFACES)(
    'an answer that is streamed unasked is put together, by $name',
    async ({ fake: options }) => {
      const { fake, vision } = await setUp('fake:stream-only', { fake: options })
      expect(itemsOf(await ask(vision))).toHaveLength(3)
      expect(fake.billed).toBe(1)
    },
  )

  test('energy in kJ is kcal in the end', async () => {
    const { vision } = await setUp('fake:wrong-units')
    expect(itemsOf(await ask(vision))[0]!.nutrients.energy_kcal).toBeCloseTo(234, 0)
  })
})

describe('amounts that are not believed', () => {
  test.for(variantsOf('ai-negative', 'ai-absurd', 'ai-all-zero'))(
    '$id by $name: $what',
    async ({ id, model, fake: options }) => {
      const { fake, vision } = await setUp(model, { fake: options })
      const described = await ask(vision)
      const reason = id === 'ai-all-zero' ? 'all_zero' : 'absurd_amounts'
      expect(described).toMatchObject({ outcome: 'no-amounts', reason })
      expect(itemsOf(described).map(({ food }) => food)).toContain('rice')
      for (const amount of amountsOf(described)) expect(amount).toBeNull()
      expect(fake.billed).toBe(1)
    },
  )

  test.for(variantsOf('ai-nan'))('$id by $name: $what', async ({ model, fake: options }) => {
    const { vision } = await setUp(model, { fake: options })
    expect(await ask(vision)).toEqual({ outcome: 'unusable', reason: 'not_finite' })
  })
})

describe('answers that cannot be used are billed, and are an end', () => {
  const REASONS: Record<string, string> = {
    'fake:truncated-json': 'cut_short',
    'fake:null-content': 'empty_answer',
    'fake:empty-choices': 'empty_answer',
    'fake:refusal': 'declined',
    'fake:content-filter': 'declined',
    'fake:array-top': 'malformed_answer',
    'fake:schema-echo': 'malformed_answer',
    'fake:huge': 'answer_too_large',
  }
  test.for(variantsOf(...UNUSABLE))('$id, $model by $name: $what', async ({ model, fake: options }) => {
    const { fake, vision } = await setUp(model, { fake: options })
    expect(await ask(vision)).toEqual({ outcome: 'unusable', reason: REASONS[model] })
    expect(fake.billed).toBe(1)
    expect(fake.calls.filter(({ path }) => path === fake.calls.at(-1)!.path)).toHaveLength(1)
  })
})

describe('failures that are not billed', () => {
  test.for(variantsOf('ai-5xx'))('$id, $model by $name: $what', async ({ model, fake: options }) => {
    const { fake, vision } = await setUp(model, { fake: options })
    const times = Number(/times=(\d)/.exec(model)![1])
    for (let n = 1; n <= times; n++) {
      const error = await failure(ask(vision))
      expect(error).toMatchObject({ code: 'overloaded', billing: 'none', retry: 'later' })
      // One call a try: whoever owns the retries decides about the next.
      expect(fake.calls).toHaveLength(n)
    }
    expect(await ask(vision)).toMatchObject({ outcome: 'estimated' })
    expect(fake.billed).toBe(1)
    expect(fake.calls.map(({ retryCount }) => retryCount)).toEqual(Array(times + 1).fill('0'))
  })

  test.for([
    { model: 'fake:429?retry_after=7', code: 'rate_limited', atLeastMs: 7_000 },
    { model: 'fake:429-date?retry_after=60', code: 'rate_limited', atLeastMs: 50_000 },
    { model: 'fake:503?retry_after=9', code: 'overloaded', atLeastMs: 9_000 },
  ])('$model: the pause that was asked for is passed on', async ({ model, code, atLeastMs }) => {
    const { fake, vision } = await setUp(model)
    const error = await failure(ask(vision))
    expect(error).toMatchObject({ code, billing: 'none', retry: 'later' })
    expect(error.retryAfterMs).toBeGreaterThanOrEqual(atLeastMs)
    expect(fake.calls).toHaveLength(1)
  })

  test.for([
    { model: 'fake:502-html', code: 'overloaded', retry: 'later' },
    { model: 'fake:html-200', code: 'not_a_provider', retry: 'later' },
    { model: 'fake:reset', code: 'connection_lost', retry: 'later' },
    { model: 'fake:400', code: 'request_refused', retry: 'never' },
    { model: 'fake:no-vision', code: 'request_refused', retry: 'never' },
    { model: 'fake:too-large?limit_bytes=100', code: 'too_large', retry: 'never' },
  ])('$model is $code, tried again $retry', async ({ model, code, retry }) => {
    const { fake, vision } = await setUp(model)
    expect(await failure(ask(vision))).toMatchObject({ code, retry, billing: 'none' })
    expect(fake.billed).toBe(0)
    expect(fake.calls).toHaveLength(1)
  })

  test('out of time before the whole request was taken: not billed', async () => {
    const server = createServer((socket) => socket.on('error', () => {}).pause())
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const clock = new ManualClock()
    const connected = new Promise((resolve) => server.once('connection', resolve))
    const vision = createVision({
      ...{ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, model: 'm', key: KEY },
      ...{ timeoutMs: 30_000, clock },
    })
    open.push(vision)
    // Larger than what the two ends of a connection keep for a side that does not read.
    const failed = failure(ask(vision, { photo: new Uint8Array(24_000_000) }))
    const socket = (await connected) as Socket
    await expect.poll(() => socket.readableFlowing).toBe(false)
    await tick()
    clock.advance(30_000)
    expect(await failed).toMatchObject({ code: 'timeout', billing: 'none', retry: 'later' })
    socket.destroy()
    server.close()
  })

  test('nobody listens: not billed', async () => {
    const { fake, vision } = await setUp('fake:ok')
    await fake.close()
    expect(await failure(ask(vision))).toMatchObject({ code: 'unreachable', billing: 'none', retry: 'later' })
  })

  test('broken off before it was sent: not billed', async () => {
    const { fake, vision } = await setUp('fake:ok')
    const error = await failure(ask(vision, { signal: AbortSignal.abort() }))
    expect(error).toMatchObject({ code: 'aborted', billing: 'none' })
    expect(fake.calls).toHaveLength(0)
  })

  test('without a provider nothing is asked', async () => {
    expect(await failure(ask(noVision()))).toMatchObject({ code: 'not_configured', retry: 'never' })
  })
})

describe('failures that may have been billed', () => {
  test.for(INTERFACES)('ai-billed-then-timeout: cut, by $name', async ({ fake: options }) => {
    const { fake, vision } = await setUp('fake:cut-after-billing', { fake: options })
    expect(await failure(ask(vision))).toMatchObject({ code: 'connection_lost', billing: 'unknown' })
    expect(fake.billed).toBe(1)
  })

  test.for(
    ['fake:timeout-after-billing', 'fake:slow-headers'].flatMap((model) =>
      INTERFACES.map((each) => ({ ...each, model })),
    ),
  )('ai-billed-then-timeout: $model by $name', async ({ model, fake: options }) => {
    const clock = new ManualClock()
    const { fake, vision } = await setUp(model, { fake: options, clock, timeoutMs: 30_000 })
    const failed = failure(ask(vision))
    await expect.poll(() => fake.billed).toBe(1)
    clock.advance(29_999)
    expect(await Promise.race([failed, tick()])).toBe('not yet')
    clock.advance(1)
    expect(await failed).toMatchObject({ code: 'timeout', billing: 'unknown' })
    expect(fake.billed).toBe(1)
  })

  test('broken off while the provider works: it may have been billed', async () => {
    const { fake, vision } = await setUp('fake:ok')
    fake.hold()
    const stop = new AbortController()
    const failed = failure(ask(vision, { signal: stop.signal }))
    await fake.waiting()
    stop.abort()
    expect(await failed).toMatchObject({ code: 'aborted', billing: 'unknown' })
  })

  test('asked again under the same key, a provider that honours keys answers and bills nothing more', async () => {
    const { fake, vision } = await setUp('fake:idempotent?fail_first=cut-after-billing')
    expect(await failure(ask(vision, { operationId: 'job-1:estimate' }))).toMatchObject({
      billing: 'unknown',
    })
    expect(await ask(vision, { operationId: 'job-1:estimate' })).toMatchObject({ outcome: 'estimated' })
    expect(fake.billedByKey).toEqual(new Map([['job-1:estimate', 1]]))
  })
})

describe('a provider that is parked', () => {
  test.for([
    { model: 'fake:429-quota', code: 'quota_exceeded' },
    { model: 'fake:401-leaky', code: 'key_refused' },
    { model: 'fake:404', code: 'model_not_found' },
  ])('ai-429-quota, prv-provider-error: $model, one call an hour', async ({ model, code }) => {
    const clock = new ManualClock()
    const { fake, vision } = await setUp(model, { clock })
    const parked = { code, retry: 'parked', billing: 'none', retryAfterMs: HOUR_MS }
    expect(await failure(ask(vision))).toMatchObject(parked)
    for (let photo = 0; photo < 5; photo++) expect((await failure(ask(vision))).code).toBe(code)
    expect(fake.calls).toHaveLength(1)
    expect(vision.parked()).toEqual({
      ...{ reason: code, sinceMs: clock.nowMs(), untilMs: clock.nowMs() + HOUR_MS },
    })
    clock.advance(HOUR_MS)
    await failure(ask(vision))
    await failure(ask(vision))
    expect(fake.calls).toHaveLength(2)
    expect(fake.billed).toBe(0)
  })

  test('goes on when a call goes through', async () => {
    const clock = new ManualClock()
    const { vision } = await setUp('fake:429-quota?times=1', { clock })
    await failure(ask(vision))
    clock.advance(HOUR_MS)
    expect(await ask(vision)).toMatchObject({ outcome: 'estimated' })
    expect(vision.parked()).toBeNull()
  })
})

describe('what an endpoint takes is learned, and costs nothing', () => {
  test.for(INTERFACES)(
    'no json_schema, by $name: json_object, and at once the next time',
    async ({ fake: options }) => {
      const { fake, vision } = await setUp('fake:no-json-schema', { fake: options })
      expect(itemsOf(await ask(vision))).toHaveLength(3)
      const asked = fake.calls.length
      expect(itemsOf(await ask(vision))).toHaveLength(3)
      expect(fake.calls.map(({ format }) => format)).toEqual(['json_schema', 'json_object', 'json_object'])
      expect(fake.calls).toHaveLength(asked + 1)
      expect(fake.billed).toBe(2)
    },
  )

  test('neither: plain text, with the shape told in words', async () => {
    const { fake, vision } = await setUp('fake:only-text')
    expect(itemsOf(await ask(vision))).toHaveLength(3)
    expect(fake.calls.map(({ format }) => format)).toEqual(['json_schema', 'json_object', undefined])
    expect(fake.calls[2]!.prompt).toContain('"energy_kcal"')
    expect(fake.billed).toBe(1)
  })

  test('no Responses API: Chat Completions, and at once the next time', async () => {
    const { fake, vision } = await setUp('fake:ok', { fake: { responses: false } })
    await ask(vision)
    await ask(vision)
    expect(fake.calls.map(({ path }) => path)).toEqual(['/chat/completions', '/chat/completions'])
  })

  test('parameters that some models refuse are not sent', async () => {
    const { fake, vision } = await setUp('fake:unsupported-param', { fake: { responses: false } })
    expect(await ask(vision)).toMatchObject({ outcome: 'estimated' })
    expect(fake.calls).toHaveLength(1)
  })
})

describe('a provider that works in the background', () => {
  const background = { fake: { background: true } }

  test('is asked by its id, which is stored before the wait', async () => {
    const clock = new ManualClock()
    const { fake, vision } = await setUp('fake:ok', { ...background, clock })
    const told: { id: string; polls: number }[] = []
    const described = await ask(vision, {
      submitted: async (id) => void told.push({ id, polls: fake.polls }),
    })
    expect(described).toMatchObject({ outcome: 'estimated' })
    expect(told).toEqual([{ id: expect.stringMatching(/^resp_/), polls: 0 }])
    expect(fake.billed).toBe(1)
  })

  test('an id that could not be stored is not waited for', async () => {
    const { fake, vision } = await setUp('fake:ok', background)
    const lost = new Error('the lease is lost')
    await expect(ask(vision, { submitted: () => Promise.reject(lost) })).rejects.toBe(lost)
    expect(fake.polls).toBe(0)
  })

  test('after a crash the answer is got by the id, without a second bill', async () => {
    const { fake, vision } = await setUp('fake:ok', background)
    const crash = new Error('killed')
    let id = ''
    const first = ask(vision, {
      submitted: (providerId) => {
        id = providerId
        return Promise.reject(crash)
      },
    })
    await expect(first).rejects.toBe(crash)
    const resumed = await vision.resume(id, { signal: new AbortController().signal })
    expect(itemsOf(resumed)).toHaveLength(3)
    expect(fake.billed).toBe(1)
    expect(fake.calls).toHaveLength(1)
  })

  test('still working at the deadline: asked again later by the id', async () => {
    const clock = new ManualClock()
    const { fake, vision } = await setUp('fake:ok', { ...background, clock })
    fake.hold()
    let id = ''
    const submitted = async (providerId: string) => {
      id = providerId
    }
    const failed = failure(ask(vision, { submitted }))
    await expect.poll(() => fake.polls).toBe(1)
    clock.advance(30_000)
    expect(await failed).toMatchObject({ code: 'still_running', billing: 'unknown', retry: 'later' })
    fake.release()
    expect(await vision.resume(id, { signal: new AbortController().signal })).toMatchObject({
      outcome: 'estimated',
    })
    expect(fake.billed).toBe(1)
  })

  test('an id that is gone is an answer that is lost, not a reason to pay again', async () => {
    const { vision } = await setUp('fake:ok', background)
    expect(await vision.resume('resp_gone', { signal: new AbortController().signal })).toEqual({
      outcome: 'unusable',
      reason: 'answer_lost',
    })
  })

  test('what fails at the provider is not billed, whoever asks for it', async () => {
    const { fake, vision } = await setUp('fake:failed', background)
    let id = ''
    const submitted = async (providerId: string) => {
      id = providerId
    }
    const unbilled = { code: 'overloaded', billing: 'none', retry: 'later' }
    expect(await failure(ask(vision, { submitted }))).toMatchObject(unbilled)
    const { signal } = new AbortController()
    expect(await failure(vision.resume(id, { signal }))).toMatchObject(unbilled)
    expect(fake.billed).toBe(0)
  })

  test.for(['truncated-json', 'refusal'])('fake:%s ends as it does in the foreground', async (mode) => {
    const { vision } = await setUp(`fake:${mode}`, background)
    expect(await ask(vision)).toMatchObject({ outcome: 'unusable' })
  })
})

describe('what is sent', () => {
  test('the photo inline, the key in its header, the operation id; no retries of the client', async () => {
    const { fake, vision } = await setUp('fake:ok')
    await ask(vision, { operationId: 'job-7:estimate' })
    expect(fake.calls).toMatchObject([
      {
        ...{ authorization: `Bearer ${KEY}`, key: 'job-7:estimate', retryCount: '0' },
        pictures: [{ mime: 'image/jpeg', bytes: PHOTO.byteLength }],
      },
    ])
  })

  test('a connection of its own for each call: none is closed by the other side as a request goes out', async () => {
    const { fake, vision } = await setUp('fake:ok')
    for (let call = 0; call < 4; call++) await ask(vision)
    expect(fake.connections).toBe(4)
  })

  test('no key, no header', async () => {
    const { fake, vision } = await setUp('fake:ok', { key: '' })
    await ask(vision)
    expect(fake.calls[0]!.authorization).toBeUndefined()
  })

  test('ai-too-large-image: a stored photo of 1600 pixels is sent in under 2 MB', async () => {
    const { fake, vision } = await setUp('fake:too-large?limit_bytes=5000000')
    const noise = { create: { width: 1600, height: 1200, channels: 3 as const, background: '#888' } }
    const photo = await sharp({
      ...noise,
      create: { ...noise.create, noise: { type: 'gaussian', mean: 128, sigma: 30 } },
    })
      .jpeg({ quality: 85 })
      .toBuffer()
    expect(await ask(vision, { photo: new Uint8Array(photo) })).toMatchObject({ outcome: 'estimated' })
    expect(fake.calls[0]!.pictures[0]).toMatchObject({ width: 1600, height: 1200, hasExif: false })
    expect(fake.calls[0]!.bodyBytes).toBeLessThan(2_000_000)
  })
})

describe('the test with a known picture', () => {
  const signal = new AbortController().signal

  test('a model that reads it works', async () => {
    const { fake, vision } = await setUp('fake:ok', { fake: { word: 'TULIP' } })
    expect((await vision.test(signal)).finding).toBe('works')
    expect(fake.calls[0]!.pictures).toMatchObject([{ width: 512, height: 512, mime: 'image/jpeg' }])
    expect(fake.calls[0]!.prompt).not.toMatch(/tulip/i)
  })

  test('ai-image-ignored: a server that drops the picture is noticed', async () => {
    const { vision } = await setUp('fake:ignores-image')
    expect(await vision.test(signal)).toMatchObject({
      finding: 'sees_nothing',
      detail: expect.stringContaining('does not describe the test picture'),
    })
  })

  test.for([
    ['fake:429-quota', 'quota_exceeded'],
    ['fake:401-leaky', 'key_refused'],
    ['fake:no-vision', 'request_refused'],
    ['fake:refusal', 'unusable'],
    ['fake:500', 'overloaded'],
    ['fake:html-200', 'not_a_provider'],
  ])('prv-provider-error: %s is %s, in our own words', async ([model, finding]) => {
    const { vision } = await setUp(model!)
    const found = await vision.test(signal)
    expect(found.finding).toBe(finding)
    expect(JSON.stringify(found)).not.toMatch(/org-case|sk-case|secret/)
  })

  test('goes through although the provider is parked, and ends that when it works', async () => {
    const { vision } = await setUp('fake:429-quota?times=1', { fake: { word: 'tulip' } })
    await failure(ask(vision))
    // The stand-in counts its failures by picture: this one is new to it.
    expect((await vision.test(signal)).finding).toBe('quota_exceeded')
    expect((await vision.test(signal)).finding).toBe('works')
    expect(vision.parked()).toBeNull()
  })

  test('without a provider it says so', async () => {
    expect((await noVision().test(signal)).finding).toBe('not_configured')
  })
})

test.for(['fake:401-leaky', 'fake:truncated-json', 'fake:400', 'fake:cut-after-billing', 'fake:500'])(
  'prv-logs, prv-provider-error: %s leaves no key, no words and no picture in what is thrown or answered',
  async (model) => {
    const { vision } = await setUp(model)
    const end = await ask(vision).catch((error: Error) => error)
    const told =
      end instanceof Error
        ? [end.message, end.stack, JSON.stringify(end), String(end.cause)].join('\n')
        : JSON.stringify(end)
    expect(told).not.toMatch(/sk-case|org-case|Case plate|[A-Za-z0-9+/]{200,}/)
  },
)

/** A turn of the event loop and some: what could happen at once has happened. */
async function tick(): Promise<string> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
  return 'not yet'
}
