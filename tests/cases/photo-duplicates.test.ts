import { createHash } from 'node:crypto'
import { systemClock } from '@garner/db'
import { afterAll, describe, expect, test } from 'vitest'
import { inspectFile } from '../../apps/server/src/features/meals/photo/inspect.ts'
import { LOOK_SAME_MAX, lookDistance } from '../../apps/server/src/features/meals/photo/look.ts'
import { createPictures } from '../../apps/server/src/features/meals/photo/pictures.ts'
import {
  captureStampOf,
  isSamePhoto,
  type PhotoMark,
} from '../../apps/server/src/features/meals/photo/same-photo.ts'
import { caseNamed, casesOf, photoBytes, photoPath } from './photo-cases.ts'

/** What the cases of area `duplicate` (and one of `time`) ask of the comparison itself; the rest is the database's. */
const pictures = createPictures({ clock: systemClock(), cores: 2, maxPx: 1600 })
afterAll(() => pictures.close())

/** An answer that got lost, a meal that was deleted. */
const LEFT_TO_MEALS = ['dup-lost-answer', 'dup-after-delete']
const SAME = ['dup-location-stripped', 'dup-reencoded']
const DIFFERENT = ['dup-burst-distinct', 'dup-same-second-names', 'dup-old-same-minute']
const TOLD_BELOW = ['dup-clamped-clock']

async function markOf(id: string, name: string): Promise<PhotoMark> {
  const path = photoPath(id, name)
  const { look } = await pictures.normalise(path, await inspectFile(path))
  return {
    digest: createHash('sha256').update(photoBytes(id, name)).digest('hex'),
    look,
    captureStamp: captureStampOf(await pictures.readMetadata(path)),
  }
}

async function pairsOf(id: string): Promise<[PhotoMark, PhotoMark][]> {
  const marks = await Promise.all(caseNamed(id).input.files!.map(({ name }) => markOf(id, name)))
  return marks.flatMap((one, i) => marks.slice(i + 1).map((other): [PhotoMark, PhotoMark] => [one, other]))
}

describe('one photo or two', () => {
  test('every case of this area is told here or left to the meals', () => {
    const ids = casesOf('duplicate').map(({ id }) => id)
    expect([...SAME, ...DIFFERENT, ...TOLD_BELOW, ...LEFT_TO_MEALS].sort()).toEqual(ids.sort())
  })

  test.for(SAME.map(caseNamed))('$id: $what', async ({ id, expect: { text } }) => {
    for (const [one, other] of await pairsOf(id)) {
      expect(one.digest).not.toBe(other.digest)
      expect(isSamePhoto(one, other), text).toBe(true)
    }
  })

  test.for(DIFFERENT.map(caseNamed))('$id: $what', async ({ id, expect: { text } }) => {
    for (const [one, other] of await pairsOf(id)) {
      expect(isSamePhoto(one, other), text).toBe(false)
      // By their pictures alone: the stamps of the first two cases would tell them apart as well.
      expect(lookDistance(one.look!, other.look!)).toBeGreaterThan(5 * LOOK_SAME_MAX)
    }
  })

  test('dup-clamped-clock: the same file on another day is the same photo, whatever minute was proposed', async () => {
    const [first, second] = [
      await markOf('dup-clamped-clock', 'fast.jpg'),
      await markOf('dup-clamped-clock', 'fast.jpg'),
    ]
    expect(isSamePhoto(first, second)).toBe(true)
  })

  test('dup-same-second-names: three pictures that are stored are three', async () => {
    const stored = await Promise.all(
      caseNamed('dup-same-second-names').input.files!.map(async ({ name }) => {
        const path = photoPath('dup-same-second-names', name)
        const { jpeg } = await pictures.normalise(path, await inspectFile(path))
        return createHash('sha256').update(jpeg).digest('hex')
      }),
    )
    expect(new Set(stored).size).toBe(3)
  })

  test('all drawn plates of the cases: no two are the same photo, unless a case says so', {
    timeout: 60_000,
  }, async () => {
    const files = casesOf('time', 'duplicate').flatMap(({ id, input }) =>
      (input.files ?? []).map(({ name }) => ({ id, name })),
    )
    const marks = await Promise.all(files.map(async ({ id, name }) => ({ id, mark: await markOf(id, name) })))
    const nearest = marks.flatMap((one, i) =>
      marks
        .slice(i + 1)
        .filter((other) => isSamePhoto(one.mark, other.mark))
        .map((other) => [one.id, other.id]),
    )
    expect(nearest).toEqual(SAME.map((id) => [id, id]))
    expect(marks.length).toBeGreaterThan(50)
  })
})
