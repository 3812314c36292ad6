import { type Static, Type } from 'typebox'

/** People, groups and tokens as clients see them. Sign-up, sign-in and sign-out are Better Auth's, under /api/auth. */
const closed = { additionalProperties: false }

/** `pending` until an admin lets the person in; `rejected` when turned away. */
export const AccountStatus = Type.Union([
  Type.Literal('pending'),
  Type.Literal('approved'),
  Type.Literal('rejected'),
])
export type AccountStatus = Static<typeof AccountStatus>

export const GroupSummary = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    /** The group that only this person is in ("Only me"). */
    personal: Type.Boolean(),
    role: Type.Union([Type.Literal('owner'), Type.Literal('member')]),
    /** Whether this person agreed to be shown in `read_by` to the group's members. */
    show_reads: Type.Boolean(),
    members: Type.Array(Type.Object({ id: Type.String(), name: Type.String() }, closed)),
    links: Type.Integer(),
    unread: Type.Integer(),
  },
  closed,
)
export type GroupSummary = Static<typeof GroupSummary>

/** `GET /api/me`; 401 without a session. */
export const Me = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    /** Null for demo people. */
    email: Type.Union([Type.String(), Type.Null()]),
    role: Type.Union([Type.Literal('admin'), Type.Literal('member')]),
    status: AccountStatus,
    /** The group that a save without `group` goes to; null for someone in no group. */
    default_group: Type.Union([Type.String(), Type.Null()]),
    demo: Type.Boolean(),
  },
  closed,
)
export type Me = Static<typeof Me>

/** `GET /api/welcome`, open to everyone: what the first screen needs to know. */
export const Welcome = Type.Object(
  {
    /** True until the first account, which becomes the admin, exists. */
    setup_needed: Type.Boolean(),
    demo: Type.Boolean(),
    /** In demo mode the people one can be, for the header X-Demo-User; else empty. */
    demo_users: Type.Array(Type.Object({ id: Type.String(), name: Type.String() }, closed)),
  },
  closed,
)
export type Welcome = Static<typeof Welcome>

export const GroupList = Type.Object({ groups: Type.Array(GroupSummary) }, closed)
export type GroupList = Static<typeof GroupList>

/** `POST /api/groups` answers 201 with the GroupSummary. */
export const CreateGroup = Type.Object({ name: Type.String({ minLength: 1, maxLength: 80 }) }, closed)

/** `POST /api/groups/:id/members`: any member may add an approved person, by e-mail or (in demo) by id. 201 Member. */
export const AddMember = Type.Object(
  {
    email: Type.Optional(Type.String({ maxLength: 320 })),
    user: Type.Optional(Type.String({ maxLength: 64 })),
  },
  closed,
)

/** `PATCH /api/groups/:id` `{show_reads}`: this member's own choice. 200 GroupSummary. */
export const EditMembership = Type.Object({ show_reads: Type.Boolean() }, closed)

export const DeleteMe = Type.Object({ confirm: Type.Literal('delete') }, closed)

/** `GET /api/tokens` → {tokens}; `POST /api/tokens` {name} → 201 with `token` once; `DELETE /api/tokens/:id` → 204. */
export const ApiToken = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    /** The first characters, to tell tokens apart. */
    start: Type.String(),
    created_at: Type.String(),
    last_used_at: Type.Union([Type.String(), Type.Null()]),
  },
  closed,
)
export type ApiToken = Static<typeof ApiToken>
export const ApiTokenList = Type.Object({ tokens: Type.Array(ApiToken) }, closed)
export const CreateApiToken = Type.Object({ name: Type.String({ minLength: 1, maxLength: 80 }) }, closed)
export const CreatedApiToken = Type.Object({ ...ApiToken.properties, token: Type.String() }, closed)
export type CreatedApiToken = Static<typeof CreatedApiToken>

/** `GET /api/admin/users` → {users}; `POST /api/admin/users/:id/approve|reject` → 200 AdminUser. Operator only. */
export const AdminUser = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    email: Type.Union([Type.String(), Type.Null()]),
    role: Type.Union([Type.Literal('admin'), Type.Literal('member')]),
    status: AccountStatus,
    asked_at: Type.String(),
  },
  closed,
)
export type AdminUser = Static<typeof AdminUser>
export const AdminUserList = Type.Object({ users: Type.Array(AdminUser) }, closed)
