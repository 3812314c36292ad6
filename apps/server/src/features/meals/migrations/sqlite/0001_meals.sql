-- The meal diary. A local day and minute are text, as they were stated (2026-08-29, 13:37), and no zone moves them.

-- A photo that was accepted (202), from then until it is a meal or has ended otherwise. It is also the memory of what
-- has been logged: a repeat of the same photo is found here.
CREATE TABLE photo_entries (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  job_id TEXT NOT NULL,
  -- What its person sees: waiting until it has ended; while it waits, the job says more.
  state TEXT NOT NULL CHECK (state IN ('waiting', 'logged', 'placeholder', 'dead', 'discarded')),
  -- Why it ended so, as a word of ours: 'allowance_exhausted', 'no_provider', 'refused', …
  reason TEXT,
  date TEXT NOT NULL,
  time TEXT NOT NULL,
  seconds TEXT NOT NULL,
  -- "offset" alone is a reserved word of PostgreSQL.
  utc_offset TEXT,
  time_source TEXT NOT NULL,
  is_guess INTEGER NOT NULL,
  -- The photo's marks (photo/same-photo.ts). "look" is null for a picture without anything to tell it by.
  digest TEXT NOT NULL,
  look TEXT,
  capture_stamp TEXT,
  -- The normalised picture among the blobs; null once it is gone.
  blob TEXT,
  width INTEGER,
  height INTEGER,
  -- Logged although another picture has the same minute, or looks the same.
  is_forced INTEGER NOT NULL,
  -- Its meal was deleted by its person: neither comes back, and the photo may be logged anew.
  is_deleted INTEGER NOT NULL DEFAULT 0,
  -- Tries that have failed; 0 again when its person asks for more.
  attempts INTEGER NOT NULL DEFAULT 0,
  -- Calls for it that the provider did not answer and does not bill; after three of them nobody calls again by himself.
  failed_calls INTEGER NOT NULL DEFAULT 0,
  last_error TEXT,
  next_try_at_ms INTEGER,
  accepted_at_ms INTEGER NOT NULL,
  ended_at_ms INTEGER
) STRICT;
CREATE INDEX photo_entries_by_bytes ON photo_entries (user_id, digest);
CREATE INDEX photo_entries_by_minute ON photo_entries (user_id, date, time);
CREATE INDEX photo_entries_by_state ON photo_entries (user_id, state, accepted_at_ms);
CREATE INDEX photo_entries_by_blob ON photo_entries (blob);

-- A meal; one made of a photo has its entry's id, so that a redo meets the same row (J10).
CREATE TABLE meals (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  -- Null for a meal written by hand.
  entry_id TEXT,
  date TEXT NOT NULL,
  time TEXT NOT NULL,
  description TEXT NOT NULL,
  -- [{food, serving, grams, nutrients: {energy_kcal, protein_g, carbohydrate_g, fat_g, fiber_g}, source: 'table'|'model'|'hand'}]
  items TEXT NOT NULL,
  -- The sums over the items; null where not one is known. Unknown is not zero.
  energy_kcal REAL,
  protein_g REAL,
  carbohydrate_g REAL,
  fat_g REAL,
  fiber_g REAL,
  estimate TEXT NOT NULL CHECK (estimate IN ('estimated', 'none', 'unknown')),
  -- Why there is no estimate; null when there is one or none was wanted.
  reason TEXT,
  -- The description or the amounts came from a model.
  ai_assisted INTEGER NOT NULL,
  -- A person has changed it: no estimate replaces anything of it, unless that person asks for one.
  is_edited INTEGER NOT NULL,
  -- The job of an estimate that is under way; null otherwise.
  job_id TEXT,
  blob TEXT,
  -- +1 with each change: what an editor must have seen (409).
  version INTEGER NOT NULL,
  created_at_ms INTEGER NOT NULL,
  changed_at_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX meals_by_day ON meals (user_id, date, time, id);
CREATE INDEX meals_by_blob ON meals (blob) WHERE blob IS NOT NULL;

-- +1 with each visible change of a person's meals, entries or allowance: what open pages look at (changes.ts).
CREATE TABLE diaries (
  user_id TEXT PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
  version INTEGER NOT NULL
) STRICT;

-- What a person aims at: JSON as `PUT /api/goals` states it.
CREATE TABLE goals (
  user_id TEXT PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
  goals TEXT NOT NULL,
  changed_at_ms INTEGER NOT NULL
) STRICT;

-- A read-only view of one's days for someone without an account. Only the SHA-256 of its token is kept.
CREATE TABLE shares (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  hash TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  -- The first and last day shown; null: no bound on that side.
  from_date TEXT,
  to_date TEXT,
  with_photos INTEGER NOT NULL,
  expires_at_ms INTEGER NOT NULL,
  views INTEGER NOT NULL DEFAULT 0,
  last_view_at_ms INTEGER,
  created_at_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX shares_of_user ON shares (user_id, created_at_ms);
