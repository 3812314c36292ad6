-- PostgreSQL. The same tables as in ../sqlite, where the columns are explained; a test compares the two. Texts sort by their
-- bytes (COLLATE "C"), as they do there; flags are 0 and 1.
CREATE TABLE users (
  id text COLLATE "C" PRIMARY KEY,
  name text COLLATE "C" NOT NULL,
  email text COLLATE "C" UNIQUE CHECK (email IS NOT NULL OR demo = 1),
  email_verified smallint NOT NULL DEFAULT 0,
  image text COLLATE "C",
  role text COLLATE "C" NOT NULL DEFAULT 'member' CHECK (role IN ('admin', 'member')),
  status text COLLATE "C" NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'approved', 'rejected')),
  demo smallint NOT NULL DEFAULT 0,
  created_at text COLLATE "C" NOT NULL,
  updated_at text COLLATE "C" NOT NULL
);

CREATE TABLE setup (
  one integer PRIMARY KEY CHECK (one = 1),
  user_id text COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE
);

CREATE TABLE sessions (
  id text COLLATE "C" PRIMARY KEY,
  token text COLLATE "C" NOT NULL UNIQUE,
  user_id text COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  expires_at text COLLATE "C" NOT NULL,
  ip_address text COLLATE "C",
  user_agent text COLLATE "C",
  created_at text COLLATE "C" NOT NULL,
  updated_at text COLLATE "C" NOT NULL
);
CREATE INDEX sessions_of_user ON sessions (user_id);

CREATE TABLE credentials (
  id text COLLATE "C" PRIMARY KEY,
  account_id text COLLATE "C" NOT NULL,
  provider_id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  access_token text COLLATE "C",
  refresh_token text COLLATE "C",
  id_token text COLLATE "C",
  access_token_expires_at text COLLATE "C",
  refresh_token_expires_at text COLLATE "C",
  scope text COLLATE "C",
  password text COLLATE "C",
  created_at text COLLATE "C" NOT NULL,
  updated_at text COLLATE "C" NOT NULL
);
CREATE INDEX credentials_of_user ON credentials (user_id);

CREATE TABLE verifications (
  id text COLLATE "C" PRIMARY KEY,
  identifier text COLLATE "C" NOT NULL,
  value text COLLATE "C" NOT NULL,
  expires_at text COLLATE "C" NOT NULL,
  created_at text COLLATE "C" NOT NULL,
  updated_at text COLLATE "C" NOT NULL
);
CREATE INDEX verifications_by_identifier ON verifications (identifier);

CREATE TABLE api_tokens (
  id text COLLATE "C" PRIMARY KEY,
  user_id text COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  name text COLLATE "C" NOT NULL,
  start text COLLATE "C" NOT NULL,
  hash text COLLATE "C" NOT NULL UNIQUE,
  created_at_ms bigint NOT NULL,
  last_used_at_ms bigint
);
CREATE INDEX api_tokens_of_user ON api_tokens (user_id, created_at_ms);

CREATE TABLE groups (
  id text COLLATE "C" PRIMARY KEY,
  name text COLLATE "C" NOT NULL,
  personal_of text COLLATE "C" UNIQUE REFERENCES users (id) ON DELETE CASCADE,
  created_at_ms bigint NOT NULL
);

CREATE TABLE memberships (
  group_id text COLLATE "C" NOT NULL REFERENCES groups (id) ON DELETE CASCADE,
  user_id text COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  role text COLLATE "C" NOT NULL CHECK (role IN ('owner', 'member')),
  show_reads smallint NOT NULL DEFAULT 0,
  joined_at_ms bigint NOT NULL,
  PRIMARY KEY (group_id, user_id)
);
CREATE INDEX memberships_of_user ON memberships (user_id, joined_at_ms);
