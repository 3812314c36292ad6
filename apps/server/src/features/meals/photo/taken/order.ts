import { instantMs, type Stamp } from './stamp.ts'

/**
 * A batch in the order in which it was taken: by instant where every photo has its offset, else by the clock's
 * reading, for the whole batch alike (a mixture of the two is no order: it can go in circles). Within a second the
 * fraction decides, digit by digit. Photos without a minute come first in their day, photos without a day last.
 * What is equal stays as it was picked.
 */
export function inTakenOrder<T>(batch: readonly T[], takenOf: (one: T) => Stamp | null): T[] {
  const byInstant = batch.every((one) => isInstant(takenOf(one)))
  const keyed = batch.map((one) => ({ one, key: keyOf(takenOf(one), byInstant) }))
  return keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)).map(({ one }) => one)
}

function isInstant(stamp: Stamp | null): boolean {
  return stamp !== null && instantMs(stamp) !== null
}

function keyOf(stamp: Stamp | null, byInstant: boolean): string {
  if (!stamp) return '~'
  const fraction = stamp.seconds.slice(2)
  if (byInstant) return `${new Date(instantMs(stamp)!).toISOString().slice(0, 19)}${fraction}`
  return `${stamp.date}T${stamp.time ?? ' '}:${stamp.seconds.slice(0, 2) || '00'}${fraction}`
}
