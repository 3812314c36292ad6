import { describe, expect, test } from 'vitest'
import { LOOK_PX, LOOK_SAME_MAX, lookDistance, lookOf } from './look.ts'

const SHAPE = { width: 1600, height: 1200 }
type Paint = (x: number, y: number) => [number, number, number]

function look(paint: Paint, shape = SHAPE): string | null {
  const pixels = new Uint8Array(LOOK_PX * LOOK_PX * 3)
  for (let y = 0; y < LOOK_PX; y++) {
    for (let x = 0; x < LOOK_PX; x++) pixels.set(paint(x, y), (y * LOOK_PX + x) * 3)
  }
  return lookOf(pixels, shape)
}

/** A white plate with something on it, on a table. */
const plate =
  (food: [number, number, number], at = 48): Paint =>
  (x, y) => {
    if (Math.hypot(x - at, y - 48) < 18) return food
    return Math.hypot(x - 48, y - 48) < 40 ? [240, 240, 235] : [120, 90, 60]
  }
const carrots = look(plate([230, 120, 30]))!

describe('looks', () => {
  test('the same pixels look the same, and a look is short', () => {
    expect(lookDistance(carrots, look(plate([230, 120, 30]))!)).toBe(0)
    expect(carrots.length).toBeLessThan(300)
  })

  test('noise such as compression makes stays below the bound', () => {
    const noisy = look(
      (x, y) =>
        plate([230, 120, 30])(x, y).map((v) => v + ((x * 7 + y * 13) % 9) - 4) as [number, number, number],
    )
    expect(lookDistance(carrots, noisy!)).toBeLessThan(LOOK_SAME_MAX)
  })

  test('other food, the same food elsewhere, and the mirror image are beyond it', () => {
    for (const other of [plate([60, 140, 40]), plate([230, 120, 30], 60), plate([230, 120, 30], 36)]) {
      expect(lookDistance(carrots, look(other)!)).toBeGreaterThan(LOOK_SAME_MAX)
    }
  })

  test('colour tells apart what is equally bright', () => {
    const gray = look(plate([143, 143, 143]))!
    expect(lookDistance(carrots, gray)).toBeGreaterThan(LOOK_SAME_MAX)
  })

  test('another shape is another picture; a pixel of rounding is not', () => {
    const at = (width: number, height: number) => look(plate([230, 120, 30]), { width, height })!
    expect(lookDistance(carrots, at(1200, 1600))).toBe(Number.POSITIVE_INFINITY)
    expect(lookDistance(carrots, at(1600, 1180))).toBe(0)
    expect(lookDistance(carrots, at(320, 239))).toBe(0)
    expect(lookDistance(carrots, at(1600, 1100))).toBe(Number.POSITIVE_INFINITY)
  })

  test('a wall has no look: any two walls would be the same meal', () => {
    expect(look(() => [128, 128, 128])).toBeNull()
    expect(look((x) => [126 + (x % 5), 128, 128])).toBeNull()
    expect(look((x) => [100 + x, 100 + x, 100 + x])).not.toBeNull()
  })

  test('what is no look of this recipe is never the same', () => {
    for (const text of ['', 'a', `b${carrots.slice(1)}`, carrots.slice(0, -4)]) {
      expect(lookDistance(carrots, text)).toBe(Number.POSITIVE_INFINITY)
    }
  })
})
