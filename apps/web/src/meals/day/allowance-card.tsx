import type { VisionAllowance } from '../contract.ts'
import { useAllowance } from '../queries.ts'
import { allowanceDetails, allowanceHeading } from './allowance.ts'

export function AllowanceCard() {
  const allowance = useAllowance().data
  if (!allowance || allowance.provider === 'none') return null
  return (
    <section className="card pad allow" aria-labelledby="allow">
      <h2 id="allow">{allowanceHeading(allowance)}</h2>
      <AllowanceMeter allowance={allowance} label={allowanceHeading(allowance)} />
      <p className="small quiet">{allowanceDetails(allowance)}</p>
    </section>
  )
}

/** Solid is used, hatched is set aside, hollow is left. */
export function AllowanceMeter({ allowance, label }: { allowance: VisionAllowance; label: string }) {
  const { limit, used, reserved, unknown } = allowance
  const share = (n: number) => `${limit === 0 ? 0 : Math.min(100, (n / limit) * 100)}%`
  return (
    // biome-ignore lint/a11y/useSemanticElements: <meter> cannot have two fills
    <div
      className="meter"
      role="meter"
      aria-label={label}
      aria-valuenow={Math.min(limit, used + unknown + reserved)}
      aria-valuemin={0}
      aria-valuemax={limit}
    >
      <i style={{ inlineSize: share(used + unknown) }} />
      <i className="reserved" style={{ inlineSize: share(reserved) }} />
    </div>
  )
}
