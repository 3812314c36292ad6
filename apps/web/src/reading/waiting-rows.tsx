const WIDTHS = ['62%', '44%', '70%', '38%', '55%', '48%']

/** Six hatched rows: the list exists, it is only not here yet. */
export function WaitingRows() {
  return (
    <div className="rows waiting" aria-hidden="true">
      {WIDTHS.map((inlineSize) => (
        <div className="row" key={inlineSize}>
          <span />
          <span className="favicon" />
          <div className="what">
            <span className="skeleton" style={{ inlineSize }} />
            <span className="skeleton" style={{ inlineSize: '7rem' }} />
          </div>
        </div>
      ))}
    </div>
  )
}
