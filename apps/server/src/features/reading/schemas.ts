import { type Static, Type } from 'typebox'

/**
 * The reading list as clients see it. These schemas validate what comes in, type what goes out, make the
 * OpenAPI page, and give `apps/web` its types. Unknown fields are refused everywhere.
 */
const closed = { additionalProperties: false }

export const TitleStatus = Type.Union([
  Type.Literal('pending'),
  Type.Literal('ready'),
  Type.Literal('none'),
  Type.Literal('timeout'),
  Type.Literal('failed'),
  Type.Literal('refused'),
])
export type TitleStatus = Static<typeof TitleStatus>

/** Where a title comes from: the page itself, the saving browser (`page_title`), or typed by a member. */
export const TitleSource = Type.Union([Type.Literal('page'), Type.Literal('browser'), Type.Literal('hand')])

export const Member = Type.Object({ id: Type.String(), name: Type.String() }, closed)
export type Member = Static<typeof Member>

export const JobRef = Type.Object({ id: Type.String(), state: Type.String() }, closed)

/** One link, as the asking member sees it. */
export const Bookmark = Type.Object(
  {
    id: Type.String(),
    url: Type.String(),
    title: Type.Union([Type.String(), Type.Null()]),
    title_status: TitleStatus,
    title_source: Type.Union([TitleSource, Type.Null()]),
    /** Who typed the title, when `title_source` is `hand`. */
    title_by: Type.Union([Member, Type.Null()]),
    /** Why the last fetch gave no title (`http_404`, `timeout`, `blocked_address`, …), also of a failed refresh. */
    title_error: Type.Union([Type.String(), Type.Null()]),
    /** When the title was last looked for, ISO 8601; null before the first answer. */
    title_checked_at: Type.Union([Type.String(), Type.Null()]),
    /** While `pending`: tries so far, and when the next is due once one has failed. */
    title_tries: Type.Integer(),
    title_next_try_at: Type.Union([Type.String(), Type.Null()]),
    /** What to show where there is no title: the file name of a PDF and the like. */
    shown: Type.Union([Type.String(), Type.Null()]),
    /** Another link of the same group whose page turned out to be the same after redirects. */
    also_saved_as: Type.Union([Type.String(), Type.Null()]),
    note: Type.String(),
    group: Type.String(),
    owner: Member,
    saved_at: Type.String(),
    edited_at: Type.Union([Type.String(), Type.Null()]),
    edited_by: Type.Union([Member, Type.Null()]),
    version: Type.Integer(),
    source_version: Type.Integer(),
    is_read: Type.Boolean(),
    /** Members who have read it and agreed to be shown; the asking member included if they agreed. */
    read_by: Type.Array(Member),
    job: Type.Union([JobRef, Type.Null()]),
  },
  closed,
)
export type Bookmark = Static<typeof Bookmark>

export const Attempt = Type.Object(
  {
    attempt: Type.Integer(),
    started_at: Type.String(),
    ended_at: Type.Union([Type.String(), Type.Null()]),
    /** `succeeded`, `superseded`, `degraded`, `retried`, `dead`, `lease_expired`, `released`, or null while it runs. */
    outcome: Type.Union([Type.String(), Type.Null()]),
    /** The kind of error only, never contents: `timeout`, `http_503`, `dns`, … */
    error: Type.Union([Type.String(), Type.Null()]),
  },
  closed,
)

/** `GET /api/bookmarks/:id`: the item and everything that happened to its title job. */
export const BookmarkDetail = Type.Object(
  {
    ...Bookmark.properties,
    job: Type.Union([
      Type.Object(
        {
          id: Type.String(),
          state: Type.String(),
          generation: Type.Integer(),
          attempts: Type.Array(Attempt),
          attempts_max: Type.Integer(),
          next_try_at: Type.Union([Type.String(), Type.Null()]),
        },
        closed,
      ),
      Type.Null(),
    ]),
  },
  closed,
)
export type BookmarkDetail = Static<typeof BookmarkDetail>

export const SaveBookmark = Type.Object(
  {
    url: Type.String(),
    note: Type.Optional(Type.String({ maxLength: 2000 })),
    group: Type.Optional(Type.String({ maxLength: 64 })),
    page_title: Type.Optional(Type.String({ maxLength: 2000 })),
    force: Type.Optional(Type.Boolean()),
    title_mode: Type.Optional(Type.Union([Type.Literal('ok'), Type.Literal('timeout')])),
  },
  closed,
)
export type SaveBookmark = Static<typeof SaveBookmark>

/** The answer to a save. `duplicate` is there, and true, when the page was already in the group (200). */
export const SavedBookmark = Type.Object(
  { ...Bookmark.properties, duplicate: Type.Optional(Type.Boolean()) },
  closed,
)
export type SavedBookmark = Static<typeof SavedBookmark>

export const EditBookmark = Type.Object(
  {
    version: Type.Integer({ minimum: 1 }),
    note: Type.Optional(Type.String({ maxLength: 2000 })),
    url: Type.Optional(Type.String()),
    /** An empty or blank title takes the typed one away: the fetched one is shown again. */
    title: Type.Optional(Type.String({ maxLength: 2000 })),
  },
  closed,
)
export type EditBookmark = Static<typeof EditBookmark>

export const MarkRead = Type.Object({ is_read: Type.Boolean() }, closed)
export type MarkRead = Static<typeof MarkRead>

export const ListQuery = Type.Object(
  {
    group: Type.Optional(Type.String({ maxLength: 64 })),
    unread: Type.Optional(Type.Boolean()),
    mine: Type.Optional(Type.Boolean()),
    q: Type.Optional(Type.String({ maxLength: 200 })),
    /** Opaque, from the previous page's `next`. */
    after: Type.Optional(Type.String({ maxLength: 200 })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 50 })),
    sort: Type.Optional(Type.Union([Type.Literal('saved_at'), Type.Literal('-saved_at')])),
  },
  closed,
)
export type ListQuery = Static<typeof ListQuery>

/** Totals over the whole group for the asking member, not over the filter. */
export const Counts = Type.Object(
  { all: Type.Integer(), unread: Type.Integer(), mine: Type.Integer() },
  closed,
)

export const BookmarkList = Type.Object(
  {
    items: Type.Array(Bookmark),
    /** The group's version that is shown; it grows with every change that anyone can see. */
    version: Type.Integer(),
    /** Give it back as `after` for the next page; null at the end. */
    next: Type.Union([Type.String(), Type.Null()]),
    group: Type.String(),
    counts: Counts,
  },
  closed,
)
export type BookmarkList = Static<typeof BookmarkList>
