-- People, what they sign in with, and the groups they share.
--
-- users, sessions, credentials and verifications belong to Better Auth (identity.ts maps its names to these); it
-- keeps instants as ISO 8601 text. A test compares them with what it expects. The rest is ours, in Unix
-- milliseconds.

CREATE TABLE users (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  -- Lower case. NULL only for demo people, who cannot sign in.
  email TEXT UNIQUE CHECK (email IS NOT NULL OR demo = 1),
  email_verified INTEGER NOT NULL DEFAULT 0,
  image TEXT,
  role TEXT NOT NULL DEFAULT 'member' CHECK (role IN ('admin', 'member')),
  status TEXT NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'approved', 'rejected')),
  demo INTEGER NOT NULL DEFAULT 0,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;

-- The first account becomes the admin. There can be one row, so of several people who are first at once the primary
-- key lets exactly one in. It goes with its person: an empty Garner is set up anew.
CREATE TABLE setup (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE
) STRICT;

CREATE TABLE sessions (
  id TEXT PRIMARY KEY,
  token TEXT NOT NULL UNIQUE,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  expires_at TEXT NOT NULL,
  ip_address TEXT,
  user_agent TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;
CREATE INDEX sessions_of_user ON sessions (user_id);

CREATE TABLE credentials (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL,
  provider_id TEXT NOT NULL,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  access_token TEXT,
  refresh_token TEXT,
  id_token TEXT,
  access_token_expires_at TEXT,
  refresh_token_expires_at TEXT,
  scope TEXT,
  -- A scrypt hash with its salt.
  password TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;
CREATE INDEX credentials_of_user ON credentials (user_id);

CREATE TABLE verifications (
  id TEXT PRIMARY KEY,
  identifier TEXT NOT NULL,
  value TEXT NOT NULL,
  expires_at TEXT NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;
CREATE INDEX verifications_by_identifier ON verifications (identifier);

-- Only the SHA-256 of a token is kept: whoever reads the file cannot use it.
CREATE TABLE api_tokens (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  start TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE,
  created_at_ms INTEGER NOT NULL,
  last_used_at_ms INTEGER
) STRICT;
CREATE INDEX api_tokens_of_user ON api_tokens (user_id, created_at_ms);

CREATE TABLE groups (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  -- The user whose "Only me" this is; NULL for a shared group. UNIQUE: approving twice makes one.
  personal_of TEXT UNIQUE REFERENCES users (id) ON DELETE CASCADE,
  created_at_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE memberships (
  group_id TEXT NOT NULL REFERENCES groups (id) ON DELETE CASCADE,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  role TEXT NOT NULL CHECK (role IN ('owner', 'member')),
  -- Whether this member agreed to be shown in the read marks that the others see.
  show_reads INTEGER NOT NULL DEFAULT 0,
  joined_at_ms INTEGER NOT NULL,
  PRIMARY KEY (group_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX memberships_of_user ON memberships (user_id, joined_at_ms);
