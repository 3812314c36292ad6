import { execFileSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { readMetadata } from '../../apps/server/src/features/meals/photo/metadata.ts'
import { readClientTime } from '../../apps/server/src/features/meals/photo/taken/client-time.ts'
import { inTakenOrder } from '../../apps/server/src/features/meals/photo/taken/order.ts'
import { instantOf, resolveTaken } from '../../apps/server/src/features/meals/photo/taken/taken.ts'
import {
  caseNamed,
  casesOf,
  type PhotoCase,
  photoBytes,
  photoPath,
  type ResolvedTime,
  UPLOADED_AT,
  ZONE,
} from './photo-cases.ts'

/** Every case of area `time`: real files, their metadata read by the real reader, judged as the server does. */

/** Belongs to the meals themselves: edits that survive an estimate. */
const LEFT_TO_MEALS = ['tim-hand-correction']
/** Told below, and no more of them needs files: what a client sends, and what nobody knows. */
const WITHOUT_TIME = ['tim-absurd-year', 'tim-nothing-known']
/** Their parts that are seen over HTTP only (days, lists, status codes) come with the routes. */
const ALSO_OVER_HTTP = [
  'tim-server-zone',
  'tim-absurd-year',
  'tim-ahead-of-utc',
  'tim-day-not-utc',
  'tim-dst-overlap',
  'tim-nothing-known',
  'tim-long-span',
]

const nowMsOf = ({ input }: PhotoCase) => Date.parse(input.now ?? UPLOADED_AT)

function takenIn(one: PhotoCase, name: string, how: 'page' | 'bare API') {
  const file = one.input.files!.find((file) => file.name === name)!
  const lastModifiedMs = file.lastModified === undefined ? undefined : Date.parse(file.lastModified)
  return resolveTaken({
    metadata: readMetadata(photoBytes(one.id, name)),
    fileName: name,
    lastModifiedMs: how === 'page' ? lastModifiedMs : undefined,
    where: how === 'page' ? { zone: ZONE } : {},
    nowMs: nowMsOf(one),
  }).taken
}

describe('when a photo was taken', () => {
  test('every case of this area is told here or left to the meals', () => {
    const told = casesOf('time').filter(({ expect: { assert } }) => assert.resolve)
    const ids = [...told.map(({ id }) => id), ...WITHOUT_TIME, ...LEFT_TO_MEALS]
    expect(ids.sort()).toEqual(
      casesOf('time')
        .map(({ id }) => id)
        .sort(),
    )
    for (const id of ALSO_OVER_HTTP) expect(ids).toContain(id)
  })

  test.for(casesOf('time').filter(({ expect: { assert } }) => assert.resolve))('$id: $what', (one) => {
    const { resolve, order, max_ms } = one.expect.assert
    const names = one.input.files!.map(({ name }) => name)
    const startedMs = performance.now()
    const taken = names.map((name) => takenIn(one, name, 'page'))
    if (max_ms) expect(performance.now() - startedMs).toBeLessThanOrEqual(max_ms)
    taken.forEach((found, i) => {
      const wanted = resolve![i]!
      expect(found, `${names[i]}: ${one.expect.text}`).not.toBeNull()
      expect(found).toMatchObject(plainPartOf(wanted))
      // Whoever is not told that it is a guess must not be shown one.
      expect(found!.guess).toBe(wanted.guess ?? false)
      if (wanted.offset_one_of) expect(wanted.offset_one_of).toContain(found!.offset)
      if (wanted.instant) expect(instantOf(found!)).toBe(wanted.instant)
    })
    if (order) expect(inTakenOrder(names, (name) => takenIn(one, name, 'page'))).toEqual(order)
  })

  test.for(casesOf('time').filter((one) => one.expect.assert.or_api_status === 400))(
    '$id: the bare API, which knows neither file time nor zone, has nothing to go by',
    (one) => {
      for (const { name } of one.input.files!) expect(takenIn(one, name, 'bare API')).toBeNull()
    },
  )

  test('tim-nothing-known: null, and never the moment of the upload', () => {
    expect(takenIn(caseNamed('tim-nothing-known'), 'image.jpg', 'bare API')).toBeNull()
  })

  test('tim-absurd-year: the field is named', () => {
    const one = caseNamed('tim-absurd-year')
    const answer = readClientTime(one.input.request!.fields, nowMsOf(one))
    expect(answer).toMatchObject({ ok: false, errors: [{ path: 'date' }] })
  })

  test('tim-server-zone: a server anywhere reads the same', () => {
    const one = caseNamed('tim-server-zone')
    for (const zone of one.expect.assert.server_zones!) {
      expect(readUnder(zone), zone).toMatchObject(one.expect.assert.resolve![0]!)
    }
  })
})

function plainPartOf({ date, time, source, offset }: ResolvedTime): Partial<ResolvedTime> {
  return { date, time, ...(source && { source }), ...(offset !== undefined && { offset }) }
}

/** The same reading in a process of its own, whose machine stands elsewhere. */
function readUnder(zone: string): unknown {
  const modules = new URL('../../apps/server/src/features/meals/photo/', import.meta.url)
  const script = `
    import { readFileSync } from 'node:fs'
    import { readMetadata } from '${modules}metadata.ts'
    import { resolveTaken } from '${modules}taken/taken.ts'
    const bytes = new Uint8Array(readFileSync('${photoPath('tim-server-zone', 'zone.jpg')}'))
    const { taken } = resolveTaken({ metadata: readMetadata(bytes), where: {}, nowMs: Date.parse('${UPLOADED_AT}') })
    console.log(JSON.stringify(taken))`
  const output = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
    env: { ...process.env, TZ: zone },
  })
  return JSON.parse(output.toString())
}
