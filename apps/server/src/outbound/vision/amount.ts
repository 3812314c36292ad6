/**
 * Reads an amount that a model wrote: a number, or a number as text with or without its unit (`450 kcal`, `12,5 g`,
 * `~30`). Pure. What cannot be read for sure is null: `1,200` may be 1.2 or 1,200, and a thousandfold error is worse
 * than a gap.
 */
export type Unit = 'kcal' | 'g'

/** `isBad`: it was stated, and no amount can be like that (negative, NaN). */
export interface Amount {
  amount: number | null
  isBad: boolean
}

const NONE: Amount = { amount: null, isBad: false }
const BAD: Amount = { amount: null, isBad: true }

export const KJ_PER_KCAL = 4.184

/** What one of each is in the unit that is asked for; a millilitre of what is eaten or drunk is about a gram. */
const UNITS: Record<Unit, Record<string, number>> = {
  kcal: { '': 1, kcal: 1, cal: 1, kcals: 1, cals: 1, calories: 1, kilocalories: 1, kj: 1 / KJ_PER_KCAL },
  g: {
    ...{ '': 1, g: 1, gr: 1, gram: 1, grams: 1, ml: 1, kg: 1000, l: 1000 },
    ...{ mg: 0.001, oz: 28.35 },
  },
}

export function readAmount(value: unknown, unit: Unit): Amount {
  if (typeof value === 'number') return checked(value)
  if (typeof value !== 'string') return NONE
  const text = value.trim().toLowerCase()
  if (/^[-+]?(nan|inf|infinity)\b/.test(text)) return BAD
  const parts = /^(?:about|approx\.?|ca\.?|circa|[~≈≤≥<>±])?\s*(-?)([\d.,'’\s]*\d)\s*([a-z]*)\.?$/.exec(text)
  if (!parts) return NONE
  const [, sign, digits, word] = parts
  const factor = UNITS[unit][word!]
  const number = readDigits(digits!)
  if (factor === undefined || number === null) return NONE
  return sign === '-' ? BAD : checked(number * factor)
}

function checked(number: number): Amount {
  if (!Number.isFinite(number) || number < 0) return BAD
  const rounded = Math.round(number * 100) / 100
  return { amount: Number.isFinite(rounded) ? rounded : number, isBad: false }
}

/** `450`, `12,5`, `0.75`, `1 200`, `1,234.5`, `1.234,5`; null when it could be meant in two ways, or in none. */
function readDigits(text: string): number | null {
  if (/^\d+$/.test(text)) return Number(text)
  const grouped = /^(\d{1,3}(?:[\s'’]\d{3})+)(?:[.,](\d{1,2}))?$/.exec(text)
  if (grouped) return Number(`${grouped[1]!.replace(/\D/g, '')}.${grouped[2] ?? '0'}`)
  if (/^\d{1,3}(,\d{3})+\.\d+$/.test(text)) return Number(text.replaceAll(',', ''))
  if (/^\d{1,3}(\.\d{3})+,\d+$/.test(text)) return Number(text.replaceAll('.', '').replace(',', '.'))
  if (/^[1-9]\d{0,2}[.,]\d{3}$/.test(text)) return null
  if (/^\d+[.,]\d+$/.test(text)) return Number(text.replace(',', '.'))
  return null
}
