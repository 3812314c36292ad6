import { clockTime } from '../../words/calendar.ts'
import { count } from '../../words/count.ts'
import type { VisionAllowance } from '../contract.ts'

/** Unknown ones count as used: they may have been billed. */
export function leftOf({ limit, used, reserved, unknown }: VisionAllowance): number {
  return Math.max(0, limit - used - reserved - unknown)
}

export function allowanceHeading(allowance: VisionAllowance): string {
  const left = leftOf(allowance)
  if (left === 0 && allowance.reserved === 0)
    return `Today’s ${count(allowance.limit, 'estimate is', 'estimates are')} used`
  return `${left} of ${count(allowance.limit, 'estimate', 'estimates')} left today`
}

export function allowanceDetails(allowance: VisionAllowance, zone?: string): string {
  const again = clockTime(Date.parse(allowance.resets_at), zone)
  if (leftOf(allowance) === 0 && allowance.reserved === 0)
    return `Photos are still logged with their time. Describe them from ${again}, or write them yourself.`
  const parts = [`${allowance.used + allowance.unknown} used`]
  if (allowance.reserved > 0) parts.push(`${allowance.reserved} set aside for photos on their way`)
  return `${parts.join(', ')}. Starts again at ${again}.`
}
