import type { Goals, Nutrient, Nutrients } from './contract.ts'

/** One kilocalorie, the thermochemical one that food labels use. */
export const KJ_PER_KCAL = 4.184

export type EnergyUnit = Goals['energy_unit']

export const NUTRIENT_WORDS: Record<Nutrient, { name: string; short: string; fill: string }> = {
  energy_kcal: { name: 'Energy', short: 'Energy', fill: 'var(--accent)' },
  protein_g: { name: 'Protein', short: 'Protein', fill: 'var(--data-protein)' },
  carbohydrate_g: { name: 'Carbohydrate', short: 'Carbs', fill: 'var(--data-carbohydrate)' },
  fat_g: { name: 'Fat', short: 'Fat', fill: 'var(--data-fat)' },
  fiber_g: { name: 'Fiber', short: 'Fiber', fill: 'var(--data-fiber)' },
}

export const GRAM_NUTRIENTS = ['protein_g', 'carbohydrate_g', 'fat_g', 'fiber_g'] as const

const WHOLE = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 0 })
const TENTHS = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 1 })

/** Energy in the unit that the person chose, as a number. */
export function inUnit(kcal: number, unit: EnergyUnit): number {
  return unit === 'kJ' ? kcal * KJ_PER_KCAL : kcal
}

export function kcalFrom(amount: number, unit: EnergyUnit): number {
  return unit === 'kJ' ? amount / KJ_PER_KCAL : amount
}

/** `1,254`: energy without its unit. */
export function energyNumber(kcal: number, unit: EnergyUnit): string {
  return WHOLE.format(inUnit(kcal, unit))
}

/** `1,254 kcal`, `5,247 kJ` */
export function energyWords(kcal: number, unit: EnergyUnit): string {
  return `${energyNumber(kcal, unit)} ${unit}`
}

/** `12`, `6.5`: more than a tenth of a gram is more than anybody knows. */
export function gramsNumber(grams: number): string {
  return (grams < 10 ? TENTHS : WHOLE).format(grams)
}

/** What stands in a bar's label; `unknown` is said, not shown as nought. */
export function amountWords(nutrient: Nutrient, amount: number | null, unit: EnergyUnit): string {
  if (amount === null) return 'unknown'
  return nutrient === 'energy_kcal' ? energyWords(amount, unit) : `${gramsNumber(amount)} g`
}

export const UNKNOWN: Nutrients = {
  energy_kcal: null,
  protein_g: null,
  carbohydrate_g: null,
  fat_g: null,
  fiber_g: null,
}

/** A sum in which the unknown is left out; null when nothing at all is known. */
export function sumKnown(amounts: readonly (number | null)[]): number | null {
  const known = amounts.filter((amount) => amount !== null)
  return known.length === 0 ? null : known.reduce((sum, amount) => sum + amount, 0)
}
