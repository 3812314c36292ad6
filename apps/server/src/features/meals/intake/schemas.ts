import { type Static, type TSchema, Type } from 'typebox'

/** What a batch of photos looks like from outside: these types are the client's, too. */
const closed = { additionalProperties: false }
const orNull = <T extends TSchema>(type: T) => Type.Union([type, Type.Null()])

/** 202: the photo and its entry are durable. */
export const Accepted = Type.Object(
  {
    queued: Type.Literal(true),
    /** This person's photos that wait to be described, this one included. */
    pending: Type.Integer(),
    entry: Type.Object(
      { id: Type.String(), state: Type.Literal('queued'), date: Type.String(), time: Type.String() },
      closed,
    ),
  },
  closed,
)
export type Accepted = Static<typeof Accepted>

/** 200: nothing was stored. */
export const Skipped = Type.Object(
  {
    queued: Type.Literal(false),
    skipped: Type.Literal(true),
    /** `same-minute` is another picture: `force` logs it anyway. So it does a copy that only looks the same. */
    duplicate: Type.Union([Type.Literal('same-photo'), Type.Literal('same-minute')]),
    /** Of the one that is there: its meal, or its entry while that waits. */
    meal_id: Type.Optional(Type.String()),
    entry_id: Type.Optional(Type.String()),
    /** When the one that is there was. */
    date: Type.String(),
    time: Type.String(),
    pending: Type.Integer(),
  },
  closed,
)
export type Skipped = Static<typeof Skipped>

export const PendingEntry = Type.Object(
  {
    id: Type.String(),
    state: Type.Union([Type.Literal('queued'), Type.Literal('describing'), Type.Literal('retrying')]),
    /** How many of this person's photos are ahead of it. */
    before: Type.Integer(),
    date: Type.String(),
    time: Type.String(),
    /** Where day and time come from: `client`, `exif:DateTimeOriginal`, `filename`, … */
    time_source: Type.String(),
    /** Tries that have failed. */
    attempts: Type.Integer(),
    next_try: orNull(Type.String()),
    /** A word for why the last try failed. */
    error: orNull(Type.String()),
  },
  closed,
)
export type PendingEntry = Static<typeof PendingEntry>

export const FinishedEntry = Type.Object(
  {
    id: Type.String(),
    state: Type.Union([
      Type.Literal('logged'),
      Type.Literal('placeholder'),
      Type.Literal('dead'),
      Type.Literal('discarded'),
    ]),
    reason: Type.Optional(Type.String()),
    meal_id: Type.Optional(Type.String()),
  },
  closed,
)
export type FinishedEntry = Static<typeof FinishedEntry>

/** `GET /api/auto-log/pending`: those that wait, in their order, and those that ended in the last hour. */
export const Pending = Type.Object(
  { pending: Type.Integer(), entries: Type.Array(PendingEntry), finished: Type.Array(FinishedEntry) },
  closed,
)
export type Pending = Static<typeof Pending>
