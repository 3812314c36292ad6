/** A wait that has an end. */
export function Ring() {
  return (
    <svg className="ring" viewBox="0 0 24 24" aria-hidden="true">
      <circle cx="12" cy="12" r="9" stroke="var(--warn-line)" />
      <circle
        cx="12"
        cy="12"
        r="9"
        stroke="var(--warn)"
        pathLength="100"
        strokeDasharray="64 100"
        strokeLinecap="round"
      />
    </svg>
  )
}
