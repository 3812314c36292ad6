import { parkedWords } from '../meals/banners.tsx'
import type { VisionAllowance } from '../meals/contract.ts'
import { allowanceDetails, allowanceHeading } from '../meals/day/allowance.ts'
import { AllowanceMeter } from '../meals/day/allowance-card.tsx'
import { useAllowance } from '../meals/queries.ts'
import { Section } from './section.tsx'

/** The day's estimates, the provider behind them, and what it is sent. */
export function Estimates() {
  const allowance = useAllowance().data
  return (
    <Section
      id="estimates"
      title="Estimates"
      about="A vision model looks at a photo and writes down what it sees. Each photo uses one of your day’s estimates."
    >
      {allowance && allowance.provider !== 'none' && (
        <div className="field">
          <div className="head-row">
            <strong>{allowanceHeading(allowance)}</strong>
            <span className="small quiet">{allowanceDetails(allowance)}</span>
          </div>
          <AllowanceMeter allowance={allowance} label="Estimates used today" />
        </div>
      )}
      {allowance && <Provider allowance={allowance} />}
      <details className="more-about">
        <summary>What is sent, and what happens when an answer is lost</summary>
        <div className="small">
          <p>The photo, made smaller, without place, camera or name. Nothing else.</p>
          <p>
            If the connection is cut while the provider works, it may have counted the call. Garner then keeps
            the meal without an estimate and does not ask twice, unless the person who runs it chose
            otherwise.
          </p>
        </div>
      </details>
    </Section>
  )
}

function Provider({ allowance }: { allowance: VisionAllowance }) {
  if (allowance.provider === 'none') {
    return (
      <div className="provider">
        <span className="dot hollow" />
        <div>
          <strong>No provider yet</strong>
          <p>
            Photos are logged with their time. To add descriptions, start Garner with{' '}
            <span className="mono">GARNER_VISION_URL</span> set to any OpenAI-compatible address.
          </p>
        </div>
      </div>
    )
  }
  if (allowance.provider === 'parked') {
    return (
      <div className="provider" role="status">
        <span className="dot bad" />
        <div>
          <strong>{parkedWords(allowance)}</strong>
          <p>Photos wait; none is lost and none is counted.</p>
        </div>
      </div>
    )
  }
  return (
    <div className="provider">
      <span className="dot" />
      <div>
        <strong>The provider is ready</strong>
        <p>Photos are described as they arrive.</p>
      </div>
    </div>
  )
}
