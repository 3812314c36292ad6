/** What all jars and dials share: the hatch as a pattern, and the jar's inside. Once a screen. */
export function JarDefs() {
  return (
    <svg width="0" height="0" className="defs" aria-hidden="true">
      <defs>
        <pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <rect width="6" height="6" fill="var(--hatch-gap)" />
          <rect width="2.2" height="6" fill="var(--accent)" />
        </pattern>
        <clipPath id="jarclip">
          <rect x="4" y="10" width="24" height="27" rx="7" />
        </clipPath>
      </defs>
    </svg>
  )
}

/** The inside of the glass: a full one still shows its rim. */
const BOTTOM = 36
const ROOM = 25

/** A day as a jar: solid is counted, hatched is on its way, hollow is room; dashed when nothing was logged. */
export function Jar({ solid, hatched, isEmpty }: { solid: number; hatched: number; isEmpty: boolean }) {
  const full = solid * ROOM
  const coming = hatched * ROOM
  return (
    <svg className="jar" viewBox="0 0 32 40" aria-hidden="true">
      <rect x="9.5" y="2.5" width="13" height="4.5" rx="2" fill="currentColor" />
      <g clipPath="url(#jarclip)">
        {coming > 0 && (
          <rect x="3" y={BOTTOM - full - coming} width="26" height={coming + 1} fill="url(#hatch)" />
        )}
        {full > 0 && <rect x="3" y={BOTTOM - full} width="26" height={full + 2} fill="var(--accent)" />}
      </g>
      <rect
        x="4"
        y="10"
        width="24"
        height="27"
        rx="7"
        fill="none"
        stroke="currentColor"
        strokeWidth="2"
        strokeDasharray={isEmpty ? '2.5 3' : undefined}
      />
    </svg>
  )
}
