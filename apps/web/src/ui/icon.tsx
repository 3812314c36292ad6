const SHAPES = {
  alert: 'M12 4l9 15.5H3zM12 10v4.5M12 17.2v.1',
  calendar: 'M4.5 6h15v14h-15zM4.5 10.5h15M8.5 3.5V8M15.5 3.5V8',
  camera: 'M3.5 8.5h4L9.3 6h5.4l1.8 2.5h4v11h-17zM12 10.2a3.3 3.3 0 1 0 .01 0',
  chart: 'M4 20h16M6.5 16.5v-5M11 16.5V6M15.5 16.5v-8M20 16.5v-4',
  check: 'M4.5 12.5l5 5 10-10.5',
  copy: 'M8.5 8.5h11v11h-11zM15.5 5.5v-1h-11v11h1',
  down: 'M6 9.5l6 6 6-6',
  eye: 'M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12zM12 9.2a2.8 2.8 0 1 0 .01 0',
  clock: 'M12 3.5a8.5 8.5 0 1 0 .01 0M12 7v5.2l3.3 2',
  gauge: 'M4.2 17.5a8.7 8.7 0 1 1 15.6 0M12 16l4.2-5.5M12 14.8a1.2 1.2 0 1 0 .01 0',
  group:
    'M9 5.7a3.3 3.3 0 1 0 .01 0M2.8 19.5c.5-4 3-5.5 6.2-5.5s5.7 1.5 6.2 5.5M15.5 5.9a3.3 3.3 0 0 1 0 6.2M18 14.6c2 .7 3 2.4 3.3 4.9',
  key: 'M8 11.5a4 4 0 1 0 .01 0M11 12.5L19.5 4M15.5 8l3 3',
  info: 'M12 3.5a8.5 8.5 0 1 0 .01 0M12 11v5.5M12 7.7v.1',
  left: 'M14.5 6l-6 6 6 6',
  link: 'M9.5 14.5l5-5M11 7l2-2a4.2 4.2 0 0 1 6 6l-2 2M13 17l-2 2a4.2 4.2 0 0 1-6-6l2-2',
  lock: 'M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3',
  meals:
    'M3.5 11h17c0 3.6-2 6.4-5 7.6V20h-7v-1.4c-3-1.2-5-4-5-7.6zM9.5 8c-1.2-1.3 1-2.2 0-3.8M14 8c-1.2-1.3 1-2.2 0-3.8',
  note: 'M5 4.5h14v9.5l-5.5 5.5H5zM13.5 19.5V14H19',
  offline:
    'M4 4l16 16M2.5 9.5A14 14 0 0 1 7.5 6.4M11.5 5.5a14 14 0 0 1 10 4M6 13.3a8.5 8.5 0 0 1 4-2.5M15.5 11.4a8.5 8.5 0 0 1 2.5 1.9M9.8 16.7a3.5 3.5 0 0 1 4.4 0M12 20v.1',
  open: 'M13.5 4.5H19.5V10.5M19 5l-8 8M17 14v5.5H4.5V7H10',
  pencil: 'M4.5 19.5l1-4.5L16 4.5l3.5 3.5L9 18.5zM13.5 7l3.5 3.5',
  phone: 'M7 3h10v18H7zM11 18h2',
  plus: 'M12 5v14M5 12h14',
  reading:
    'M12 6.5C10 5 7 4.5 3.5 5v13c3.5-.5 6.5 0 8.5 1.5 2-1.5 5-2 8.5-1.5V5C17 4.5 14 5 12 6.5zM12 6.5v13',
  retry: 'M19.5 12.5a7.5 7.5 0 1 1-2-5.7L20 9.2M20 4v5.2h-5.2',
  right: 'M9.5 6l6 6-6 6',
  safe: 'M4 9h16v11H4zM7 9V6.5h10V9M8 14.5l2.8 2.7L16 12.5',
  search: 'M10.8 4.5a6.3 6.3 0 1 0 .01 0M15.5 15.5l5 5',
  settings:
    'M4 7.5h8M20 7.5h-.5M4 16.5h.5M12 16.5h8M15.7 4.3a3.2 3.2 0 1 0 .01 0M8.3 13.3a3.2 3.2 0 1 0 .01 0',
  share: 'M7 12.5V20h10v-7.5M12 15V4M8 7.5L12 3.7l4 3.8',
  shield: 'M12 3.5l7.5 2.8v5.2c0 4.5-3.2 7.6-7.5 9-4.3-1.4-7.5-4.5-7.5-9V6.3z',
  signout: 'M13.5 8V4.5h-9v15h9V16M9.5 12h11M17 8.5l3.5 3.5-3.5 3.5',
  table: 'M4 5h16v14H4zM4 10h16M4 14.5h16M10 5v14',
  trash: 'M4.5 7h15M9.5 7V4h5v3M6.5 7l1 13h9l1-13M10.3 11v5.5M13.7 11v5.5',
  undo: 'M8.5 4.5L4 9l4.5 4.5M4 9h11a5.2 5.2 0 0 1 0 10.5h-4',
  upload: 'M12 16V5M7 9.5l5-5 5 5M4.5 19.5h15',
  user: 'M12 4.2a3.8 3.8 0 1 0 .01 0M4.5 20c.7-4.2 3.8-6 7.5-6s6.8 1.8 7.5 6',
  x: 'M6 6l12 12M18 6L6 18',
} as const

export type IconName = keyof typeof SHAPES | 'more'

/** Always beside words or on a button with a name, so never read aloud itself. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg className="i" viewBox="0 0 24 24" aria-hidden="true">
      {name === 'more' ? (
        [5.5, 12, 18.5].map((x) => (
          <circle key={x} cx={x} cy="12" r="1.7" fill="currentColor" stroke="none" />
        ))
      ) : (
        <path d={SHAPES[name]} />
      )}
    </svg>
  )
}

/** The mark: a jar, a third of it hatched. */
export function Mark() {
  return (
    <svg viewBox="0 0 32 32" aria-hidden="true">
      <rect x="9" y="2.5" width="14" height="4.5" rx="2" fill="currentColor" />
      <rect
        x="5.2"
        y="9"
        width="21.6"
        height="20.5"
        rx="6"
        fill="none"
        stroke="currentColor"
        strokeWidth="2.4"
      />
      <path d="M5 20h22v4a6 6 0 0 1-6 6H11a6 6 0 0 1-6-6z" fill="currentColor" />
      <path
        d="M9.5 17l4.2-4.5M15.2 17l4.2-4.5M20.9 17l2.6-2.8"
        stroke="currentColor"
        strokeWidth="2.2"
        strokeLinecap="round"
      />
    </svg>
  )
}
