import type { AdminUser, ApiToken, Bookmark, BookmarkDetail, Member } from '@garner/server/api'
import type { FakeDiary } from './fake-diary.ts'
import { PEOPLE, person } from './fake-people.ts'

type Job = NonNullable<BookmarkDetail['job']>

/** A link as the fake keeps it: read marks are per person here, not per answer. */
export interface FakeLink extends Omit<Bookmark, 'is_read' | 'read_by' | 'job'> {
  readers: string[]
  job: Job
}

export interface FakeGroup {
  id: string
  name: string
  personal: boolean
  owner: string
  members: string[]
  showing: string[]
  version: number
}

export interface FakeState {
  demo: boolean
  setupNeeded: boolean
  /** Whose session the requests carry; null is nobody's. In demo mode the header says it. */
  session: string | null
  users: AdminUser[]
  groups: FakeGroup[]
  links: FakeLink[]
  tokens: ApiToken[]
  diary: FakeDiary
}

const MINUTE = 60_000

export function linkOf(
  parts: Partial<FakeLink> & { id: string; url: string; owner: Member; savedAtMs: number },
): FakeLink {
  const { savedAtMs, ...rest } = parts
  const savedAt = new Date(savedAtMs).toISOString()
  return {
    title: null,
    title_status: rest.title ? 'ready' : 'pending',
    title_source: rest.title ? 'page' : null,
    title_by: null,
    title_error: null,
    title_checked_at: null,
    title_tries: 0,
    title_next_try_at: null,
    shown: null,
    also_saved_as: null,
    note: '',
    group: 'study',
    saved_at: savedAt,
    edited_at: null,
    edited_by: null,
    version: 1,
    source_version: 1,
    readers: [],
    job: {
      id: `job-${rest.id}`,
      state: rest.title ? 'succeeded' : 'ready',
      generation: 1,
      attempts: rest.title
        ? [{ attempt: 1, started_at: savedAt, ended_at: savedAt, outcome: 'succeeded', error: null }]
        : [],
      attempts_max: 4,
      next_try_at: null,
    },
    ...rest,
  }
}

function tries(from: number, errors: string[]): Job['attempts'] {
  return errors.map((error, i) => ({
    attempt: i + 1,
    started_at: new Date(from + i * 100_000).toISOString(),
    ended_at: new Date(from + i * 100_000 + 10_000).toISOString(),
    outcome: i === errors.length - 1 ? 'degraded' : 'retried',
    error,
  }))
}

function user(member: Member, parts: Partial<AdminUser> = {}): AdminUser {
  return {
    ...member,
    email: `${member.id}@example.org`,
    role: 'member',
    status: 'approved',
    asked_at: '2026-03-02T10:00:00Z',
    ...parts,
  }
}

/** The study group of the pictures, as of `nowMs`: a title in every state there is. */
export function studyGroup(nowMs: number, more = 0): FakeState {
  const { alice, bob, mei, ines, tom, carol } = PEOPLE
  const day = 24 * 60 * MINUTE
  const at = (daysAgo: number, time: string) => {
    const [hour = 0, minute = 0] = time.split(':').map(Number)
    const date = new Date(nowMs - daysAgo * day)
    date.setHours(hour, minute, 0, 0)
    return date.getTime()
  }
  const links: FakeLink[] = [
    linkOf({
      id: 'l1',
      url: 'https://www.rfc-editor.org/rfc/rfc9211.html',
      owner: alice,
      savedAtMs: nowMs - 8_000,
    }),
    linkOf({
      id: 'l2',
      url: 'https://lamport.azurewebsites.net/pubs/time-clocks.pdf',
      owner: bob,
      savedAtMs: nowMs - 3 * MINUTE,
      title_tries: 1,
      title_error: 'timeout',
      title_next_try_at: new Date(nowMs + 2 * MINUTE).toISOString(),
    }),
    linkOf({
      id: 'l3',
      url: 'https://en.wikipedia.org/wiki/Cache_stampede',
      title: 'Cache stampede',
      owner: mei,
      savedAtMs: at(0, '00:20'),
      note: 'For Tuesday. The part on early expiry is the one to argue about.',
      readers: ['mei', 'tom'],
    }),
    linkOf({
      id: 'l4',
      url: 'https://archive.org/details/queueing-notes',
      owner: ines,
      savedAtMs: at(0, '00:12'),
      title_status: 'timeout',
      title_error: 'timeout',
      readers: ['ines'],
      job: {
        id: 'job-l4',
        state: 'degraded',
        generation: 1,
        attempts: tries(at(0, '00:12'), ['timeout', 'timeout', 'http_503', 'timeout']),
        attempts_max: 4,
        next_try_at: null,
      },
    }),
    linkOf({
      id: 'l5',
      url: 'https://sqlite.org/wal.html',
      title: 'Write-Ahead Logging',
      owner: bob,
      savedAtMs: at(0, '00:02'),
      readers: ['alice', 'bob', 'mei', 'ines'],
    }),
    linkOf({
      id: 'l6',
      url: 'https://intranet.uni.example/seminar/07',
      owner: tom,
      savedAtMs: at(1, '18:31'),
      title_status: 'failed',
      title_error: 'http_401',
      readers: ['tom'],
    }),
    linkOf({
      id: 'l7',
      url: 'https://www.rfc-editor.org/rfc/rfc9457.html',
      title: 'RFC 9457: Problem Details for HTTP APIs',
      owner: alice,
      savedAtMs: at(1, '16:10'),
      readers: ['alice', 'bob', 'mei'],
    }),
    linkOf({
      id: 'l8',
      url: 'https://notes.example.org/littles-law',
      title: 'Little’s law in one page',
      title_source: 'hand',
      title_by: ines,
      owner: ines,
      savedAtMs: at(1, '09:44'),
      note: 'My own notes. Page 2 has the picture with the shop.',
      readers: ['ines'],
    }),
    linkOf({
      id: 'l9',
      url: 'http://router.internal/status',
      owner: alice,
      savedAtMs: at(1, '08:10'),
      title_status: 'refused',
      title_error: 'blocked_address',
    }),
    linkOf({
      id: 'l10',
      url: 'https://www.postgresql.org/docs/current/explicit-locking.html',
      title: 'PostgreSQL: Explicit Locking',
      owner: tom,
      savedAtMs: at(3, '20:15'),
      note: 'SKIP LOCKED is about half-way down.',
      readers: ['alice', 'bob', 'mei', 'ines', 'tom'],
    }),
    linkOf({
      id: 'l11',
      url: 'https://ar.wikipedia.org/wiki/ذاكرة_وصول_سريع',
      title: 'ذاكرة وصول سريع (cache) - ويكيبيديا',
      owner: mei,
      savedAtMs: at(3, '08:52'),
      note: '<b>text, never markup</b>',
      readers: ['mei', 'bob'],
    }),
    linkOf({
      id: 'l12',
      url: 'https://sigops.org/s/conferences/hotos/2021/',
      title: 'Metastable Failures in Distributed Systems',
      owner: bob,
      savedAtMs: at(9, '22:40'),
      note: 'The best thing on this list. Read it slowly.',
      readers: ['bob', 'tom', 'alice'],
    }),
  ]
  for (let i = 0; i < more; i += 1) {
    links.push(
      linkOf({
        id: `m${i}`,
        url: `https://example.org/reading/${i + 1}`,
        title: `Chapter ${i + 1} of a long list`,
        owner: i % 3 === 0 ? alice : bob,
        savedAtMs: at(10, '12:00') - i * 8 * 60 * MINUTE,
        readers: i % 2 === 0 ? ['alice'] : [],
      }),
    )
  }
  const all = ['alice', 'bob', 'mei', 'ines', 'tom']
  return {
    demo: false,
    setupNeeded: false,
    session: 'alice',
    users: [
      user(alice, { role: 'admin' }),
      ...[bob, mei, ines, tom, carol].map((one) => user(one)),
      user(
        { id: 'jonas', name: 'Jonas Weber' },
        { status: 'pending', asked_at: new Date(nowMs - 2 * 60 * MINUTE).toISOString() },
      ),
    ],
    groups: [
      {
        id: 'study',
        name: 'Study group',
        personal: false,
        owner: 'alice',
        members: all,
        showing: all,
        version: 10,
      },
      {
        id: 'family',
        name: 'Family',
        personal: false,
        owner: 'alice',
        members: ['alice', 'bob'],
        showing: ['bob'],
        version: 1,
      },
      {
        id: 'me-alice',
        name: 'Only me',
        personal: true,
        owner: 'alice',
        members: ['alice'],
        showing: [],
        version: 1,
      },
    ],
    links,
    tokens: [
      {
        id: 't1',
        name: 'Phone shortcut',
        start: 'grn_7Qk2',
        created_at: '2026-03-02T10:00:00Z',
        last_used_at: new Date(nowMs - 30 * MINUTE).toISOString(),
      },
    ],
    diary: { entries: [] },
  }
}

/** One link as one member sees it. */
export function seenBy(state: FakeState, link: FakeLink, who: string): BookmarkDetail {
  const group = state.groups.find((one) => one.id === link.group)
  const { readers, ...rest } = link
  return {
    ...rest,
    is_read: readers.includes(who),
    read_by: readers.filter((id) => group?.showing.includes(id)).map(person),
  }
}
