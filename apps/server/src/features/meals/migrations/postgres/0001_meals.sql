-- PostgreSQL. The same tables as in ../sqlite, where the columns are explained; a test compares the two. Texts sort by their
-- bytes (COLLATE "C"), as they do there; flags are 0 and 1.
CREATE TABLE photo_entries (
  id text COLLATE "C" PRIMARY KEY,
  user_id text COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  job_id text COLLATE "C" NOT NULL,
  state text COLLATE "C" NOT NULL CHECK (state IN ('waiting', 'logged', 'placeholder', 'dead', 'discarded')),
  reason text COLLATE "C",
  date text COLLATE "C" NOT NULL,
  time text COLLATE "C" NOT NULL,
  seconds text COLLATE "C" NOT NULL,
  utc_offset text COLLATE "C",
  time_source text COLLATE "C" NOT NULL,
  is_guess smallint NOT NULL,
  digest text COLLATE "C" NOT NULL,
  look text COLLATE "C",
  capture_stamp text COLLATE "C",
  blob text COLLATE "C",
  width integer,
  height integer,
  is_forced smallint NOT NULL,
  is_deleted smallint NOT NULL DEFAULT 0,
  attempts integer NOT NULL DEFAULT 0,
  failed_calls integer NOT NULL DEFAULT 0,
  last_error text COLLATE "C",
  next_try_at_ms bigint,
  accepted_at_ms bigint NOT NULL,
  ended_at_ms bigint
);
CREATE INDEX photo_entries_by_bytes ON photo_entries (user_id, digest);
CREATE INDEX photo_entries_by_minute ON photo_entries (user_id, date, time);
CREATE INDEX photo_entries_by_state ON photo_entries (user_id, state, accepted_at_ms);
CREATE INDEX photo_entries_by_blob ON photo_entries (blob);

CREATE TABLE meals (
  id text COLLATE "C" PRIMARY KEY,
  user_id text COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  entry_id text COLLATE "C",
  date text COLLATE "C" NOT NULL,
  time text COLLATE "C" NOT NULL,
  description text COLLATE "C" NOT NULL,
  items text COLLATE "C" NOT NULL,
  energy_kcal double precision,
  protein_g double precision,
  carbohydrate_g double precision,
  fat_g double precision,
  fiber_g double precision,
  estimate text COLLATE "C" NOT NULL CHECK (estimate IN ('estimated', 'none', 'unknown')),
  reason text COLLATE "C",
  ai_assisted smallint NOT NULL,
  is_edited smallint NOT NULL,
  job_id text COLLATE "C",
  blob text COLLATE "C",
  version bigint NOT NULL,
  created_at_ms bigint NOT NULL,
  changed_at_ms bigint NOT NULL
);
CREATE INDEX meals_by_day ON meals (user_id, date, time, id);
CREATE INDEX meals_by_blob ON meals (blob) WHERE blob IS NOT NULL;

CREATE TABLE diaries (
  user_id text COLLATE "C" PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
  version bigint NOT NULL
);

CREATE TABLE goals (
  user_id text COLLATE "C" PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
  goals text COLLATE "C" NOT NULL,
  changed_at_ms bigint NOT NULL
);

CREATE TABLE shares (
  id text COLLATE "C" PRIMARY KEY,
  user_id text COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  hash text COLLATE "C" NOT NULL UNIQUE,
  name text COLLATE "C" NOT NULL,
  from_date text COLLATE "C",
  to_date text COLLATE "C",
  with_photos smallint NOT NULL,
  expires_at_ms bigint NOT NULL,
  views integer NOT NULL DEFAULT 0,
  last_view_at_ms bigint,
  created_at_ms bigint NOT NULL
);
CREATE INDEX shares_of_user ON shares (user_id, created_at_ms);
